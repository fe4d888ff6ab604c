# Forks so many workers, lets them go one after the other, and reports each end: prefork.pl NUMBER
use strict;
use warnings;

$| = 1;
my @workers;
for my $number (1 .. $ARGV[0]) {
    pipe(my $gate, my $keeper) or die "cannot make a pipe: $!";
    my $pid = fork() // die "cannot fork: $!";
    if ($pid == 0) {
        # A worker that kept the write ends of others, or its own, would keep their gates shut.
        close($_->{keeper}) for @workers;
        close($keeper);
        sysread($gate, my $nothing, 1);
        exit(10 + $number);
    }
    close($gate);
    push @workers, { pid => $pid, keeper => $keeper };
}
for my $number (1 .. @workers) {
    my $worker = $workers[$number - 1];
    close($worker->{keeper});
    waitpid($worker->{pid}, 0) == $worker->{pid} or die "lost worker $number";
    print "worker $number ended with ", $? >> 8, "\n";
}
