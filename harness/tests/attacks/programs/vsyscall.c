/* time(2) by the page that the oldest programs call (vsyscall), which is no call by the usual way. */
int main(void) {
	long (*old_time)(long *) = (long (*)(long *))0xffffffffff600400;
	return old_time(0) == 0;
}
