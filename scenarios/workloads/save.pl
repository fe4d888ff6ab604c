# Replaces a file as a program should that must not lose it: save.pl FILE CONTENT
use strict;
use warnings;
use Fcntl qw(O_WRONLY O_CREAT O_EXCL);
use IO::Handle;

my ($file, $content) = @ARGV;
syswrite(STDOUT, "save\n");
sysopen(my $new, "$file.new", O_WRONLY | O_CREAT | O_EXCL, 0644) or die "cannot create: $!";
syswrite($new, $content) == length($content) or die "cannot write: $!";
$new->sync or die "cannot sync: $!";
close($new) or die "cannot close: $!";
rename("$file.new", $file) or die "cannot rename: $!";
open(my $folder, '<', '.') or die "cannot open the folder: $!";
$folder->sync or die "cannot sync the folder: $!";
