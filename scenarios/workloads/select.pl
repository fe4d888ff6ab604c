# Two children write to a pipe each; the parent selects until both have ended, and prints what it got in order of names.
use strict;
use warnings;

my %said;
my %pipe;
for my $word ('one', 'two') {
    pipe(my $reader, my $writer) or die "cannot make a pipe: $!";
    my $child = fork() // die "cannot fork: $!";
    if ($child == 0) {
        close($reader);
        syswrite($writer, $word);
        exit(0);
    }
    close($writer);
    $pipe{fileno $reader} = [$word, $reader];
}
while (%pipe) {
    my $wanted = '';
    vec($wanted, $_, 1) = 1 for keys %pipe;
    select(my $ready = $wanted, undef, undef, undef) > 0 or die "cannot select: $!";
    for my $fd (grep { vec($ready, $_, 1) } keys %pipe) {
        my ($word, $reader) = @{$pipe{$fd}};
        sysread($reader, $said{$word}, 64, length($said{$word} // '')) or delete $pipe{$fd};
    }
}
1 while wait() > 0;
print join(' ', @said{sort keys %said}), "\n";
