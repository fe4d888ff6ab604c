/* How many samples a perf.data file holds and how many it says were lost, by a walk over the record headers.
 *
 *   lost FILE    prints  {"samples":N,"lost":N}
 *
 * "lost" is the greater of the ring's own LOST records and the LOST_SAMPLES records that perf adds from the counters at
 * the end: each of the two misses some.
 */
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { DATA_OFFSET = 40, DATA_SIZE = 48 }; /* struct perf_file_header: the section of the records */

int main(int argc, char **argv)
{
	struct stat facts;
	int fd = argc == 2 ? open(argv[1], O_RDONLY) : -1;

	if (fd < 0 || fstat(fd, &facts) < 0 || facts.st_size < 104)
		return fputs("lost: not a perf.data file\n", stderr), 1;
	uint64_t size = (uint64_t)facts.st_size, at, left, samples = 0, lost = 0, lost_samples = 0;
	const unsigned char *file = mmap(NULL, size, PROT_READ, MAP_PRIVATE, fd, 0);

	if (file == MAP_FAILED || memcmp(file, "PERFILE2", 8))
		return fputs("lost: not a perf.data file\n", stderr), 1;
	memcpy(&at, file + DATA_OFFSET, 8);
	memcpy(&left, file + DATA_SIZE, 8);
	if (at > size || left > size - at)
		return fputs("lost: the file is cut short\n", stderr), 1;
	while (left >= sizeof(struct perf_event_header)) {
		struct perf_event_header header;
		uint64_t words[2];

		memcpy(&header, file + at, sizeof header);
		if (header.size < sizeof header || header.size > left)
			return fputs("lost: a record of impossible size\n", stderr), 1;
		if (header.size >= sizeof header + sizeof words)
			memcpy(words, file + at + sizeof header, sizeof words);
		else
			memset(words, 0, sizeof words);
		samples += header.type == PERF_RECORD_SAMPLE;
		lost += header.type == PERF_RECORD_LOST ? words[1] : 0;
		lost_samples += header.type == PERF_RECORD_LOST_SAMPLES ? words[0] : 0;
		at += header.size;
		left -= header.size;
	}
	printf("{\"samples\":%llu,\"lost\":%llu}\n", (unsigned long long)samples,
		(unsigned long long)(lost > lost_samples ? lost : lost_samples));
	return 0;
}
