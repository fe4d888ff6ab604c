# A daemon in small: prints its configuration, replaces it, sends itself SIGHUP, and prints it again.
use strict;
use warnings;

my $reload = 0;
$SIG{HUP} = sub { $reload++ };
sub show {
    open(my $config, '<', 'config') or die "cannot open: $!";
    syswrite(STDOUT, scalar <$config>);
}
show();
open(my $new, '>', 'config.new') or die "cannot create: $!";
syswrite($new, "second\n");
close($new);
rename('config.new', 'config') or die "cannot rename: $!";
kill('HUP', $$);
show() if $reload;
