/* DPDK's part of the comparison: the same cases as crates/perhop-qos/benches/data_plane.
 *
 * Both programs have the same packets, profiles, batches, medians and lines of output. A line has the name of a
 * case, its nanoseconds per packet, and the shares of the outcomes of packets, which must agree.
 *
 *     data_plane [CASE [BATCHES]]
 */

#define _GNU_SOURCE
#include <inttypes.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <rte_cycles.h>
#include <rte_eal.h>
#include <rte_mbuf.h>
#include <rte_meter.h>
#include <rte_pie.h>
#include <rte_red.h>
#include <rte_sched.h>

/* Packets of one batch, and timed batches of one case. The same number of batches runs before, for warm-up. */
#define BATCH 16384
#define BATCHES 128
/* Number of packets after which lengths, colors and places repeat. It is too large for branch prediction to
 * learn the sequence. For a port, packets repeat after PACKETS packets. */
#define TABLE 32768
#define PACKETS 4096
#define MOST_INSTANCES 4096

static const char *only = "";
static int batches = BATCHES;

static void fail(const char *what)
{
	fprintf(stderr, "error: %s\n", what);
	exit(1);
}

/* The next pseudo-random number: a generator with the same results in every language (Knuth, MMIX). */
static uint64_t next(uint64_t seed)
{
	return seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
}

static void numbers(uint32_t *table, uint64_t seed, uint64_t end)
{
	for (int row = 0; row < TABLE; row++) {
		seed = next(seed);
		table[row] = (seed >> 33) % end;
	}
}

/* Fills the table with the numbers below `end` in a random order; each number occurs equally often. */
static void shuffled(uint32_t *table, uint64_t seed, uint32_t end)
{
	for (uint32_t row = 0; row < TABLE; row++)
		table[row] = row % end;
	for (uint32_t row = TABLE - 1; row > 0; row--) {
		seed = next(seed);
		uint32_t other = (seed >> 33) % (row + 1), kept = table[row];
		table[row] = table[other];
		table[other] = kept;
	}
}

static uint32_t lengths[TABLE], colors[TABLE], places[TABLE], classes[TABLE];

static uint64_t nanoseconds(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;
	return (a > b) - (a < b);
}

/* The numbers of packets of a case by outcome, and the time of each batch. */
struct result {
	uint64_t outcomes[4];
	double *times;
};

static bool wanted(const char *name)
{
	return strncmp(name, only, strlen(only)) == 0;
}

static struct result start(void)
{
	struct result result = {.times = calloc((size_t)batches, sizeof(double))};
	if (result.times == NULL)
		fail("there is no memory for the times");
	return result;
}

static void print(const char *name, struct result *result)
{
	double packets = 0;
	qsort(result->times, (size_t)batches, sizeof(double), by_value);
	for (int outcome = 0; outcome < 4; outcome++)
		packets += (double)result->outcomes[outcome];
	printf("%s %.3f", name, result->times[batches / 10]);
	for (int outcome = 0; outcome < 3; outcome++)
		printf(" %.2f", 100.0 * (double)result->outcomes[outcome] / packets);
	printf("\n");
	fflush(stdout);
	free(result->times);
}

/* Measures the time of HANDLE, an expression for the outcome of packet n, in batches. */
#define TIME(NAME, HANDLE)                                                                             \
	do {                                                                                           \
		struct result result = start();                                                        \
		for (int batch = 0; batch < 2 * batches; batch++) {                                    \
			uint64_t first = (uint64_t)batch * BATCH, before = nanoseconds();              \
			for (uint64_t n = first; n < first + BATCH; n++)                               \
				result.outcomes[(HANDLE) & 3]++;                                       \
			if (batch >= batches)                                                          \
				result.times[batch - batches] = (double)(nanoseconds() - before) / BATCH; \
		}                                                                                      \
		print(NAME, &result);                                                                  \
	} while (0)

/* ---- meters ---- */

/* The time between packets, 600 ns, in cycles of the time stamp counter, which is DPDK's clock. */
static uint64_t gap;

static uint32_t length_of(uint64_t n)
{
	return 64 + lengths[n % TABLE];
}

static struct rte_meter_srtcm single[MOST_INSTANCES];
static struct rte_meter_trtcm two[MOST_INSTANCES];
static struct rte_meter_trtcm_rfc4115 efficient[MOST_INSTANCES];

/* Measures the time of CHECK, which returns the color of packet n from a meter in STATE. */
#define METER(NAME, KIND, STATE, PROFILE, CHECK)                                                        \
	do {                                                                                           \
		char name[64];                                                                         \
		snprintf(name, sizeof name, "meter/%s/%u", NAME, instances);                           \
		if (!wanted(name))                                                                     \
			break;                                                                         \
		for (unsigned i = 0; i < instances; i++)                                               \
			if (rte_meter_##KIND##_config(&STATE[i], &PROFILE) != 0)                       \
				fail(name);                                                            \
		TIME(name, CHECK);                                                                     \
	} while (0)

/* Measures a meter of KIND, color-blind and color-aware. */
#define METERS(NAME, KIND, STATE, PROFILE)                                                              \
	METER(NAME "-blind", KIND, STATE, PROFILE,                                                     \
	      rte_meter_##KIND##_color_blind_check(&STATE[places[n % TABLE]], &PROFILE, n *gap,        \
						   length_of(n)));                                     \
	METER(NAME "-aware", KIND, STATE, PROFILE,                                                     \
	      rte_meter_##KIND##_color_aware_check(&STATE[places[n % TABLE]], &PROFILE, n *gap,        \
						   length_of(n), (enum rte_color)colors[n % TABLE]))

static void meters(unsigned instances)
{
	/* Bytes per second: 5 Gb/s committed, 8 Gb/s peak, 3 Gb/s excess, divided among the instances. */
	uint64_t cir = 625000000 / instances, pir = 1000000000 / instances, eir = 375000000 / instances;
	struct rte_meter_srtcm_params single_params = {.cir = cir, .cbs = 30000, .ebs = 30000};
	struct rte_meter_trtcm_params two_params = {.cir = cir, .pir = pir, .cbs = 30000, .pbs = 30000};
	struct rte_meter_trtcm_rfc4115_params efficient_params = {
		.cir = cir, .eir = eir, .cbs = 30000, .ebs = 30000};
	struct rte_meter_srtcm_profile single_profile;
	struct rte_meter_trtcm_profile two_profile;
	struct rte_meter_trtcm_rfc4115_profile efficient_profile;
	if (rte_meter_srtcm_profile_config(&single_profile, &single_params) != 0 ||
	    rte_meter_trtcm_profile_config(&two_profile, &two_params) != 0 ||
	    rte_meter_trtcm_rfc4115_profile_config(&efficient_profile, &efficient_params) != 0)
		fail("the profile of a meter is not valid");
	shuffled(places, 3, instances);
	METERS("srtcm", srtcm, single, single_profile);
	METERS("trtcm", trtcm, two, two_profile);
	METERS("rfc4115", trtcm_rfc4115, efficient, efficient_profile);
}

/* ---- RED ---- */

static struct rte_red red_state[MOST_INSTANCES];
/* One configuration per color, as in rte_sched. */
static struct rte_red_config red_config[RTE_COLORS];

/* Measures RED with `instances` queues. Their lengths are `shortest` packets plus a random number below `range`.
 * Outcome 1 is a random drop, and outcome 2 a forced drop. */
static void red(const char *kind, unsigned instances, unsigned shortest, unsigned range)
{
	char name[64];
	snprintf(name, sizeof name, "red/%s/%u", kind, instances);
	if (!wanted(name))
		return;
	for (int color = 0; color < RTE_COLORS; color++)
		if (rte_red_config_init(&red_config[color], 9, 32, 96, 10) != 0)
			fail("the parameters of RED are not valid");
	shuffled(places, 3, instances);
	numbers(lengths, 1, range);
	for (unsigned i = 0; i < instances; i++) {
		rte_red_rt_data_init(&red_state[i]);
		for (int warm = 0; warm < 4096; warm++)
			rte_red_enqueue(&red_config[0], &red_state[i], shortest + range / 2, 0);
	}
	/* DPDK returns 1 for a forced drop and 2 for a random drop. */
	static const int outcome[3] = {0, 2, 1};
	TIME(name, outcome[rte_red_enqueue(&red_config[colors[n % TABLE]], &red_state[places[n % TABLE]],
					   shortest + lengths[n % TABLE], n * gap)]);
	numbers(lengths, 1, 1437);
}

/* ---- a port ---- */

#define CLASSES 13
#define STRICT 9
#define BURST 32
#define MBUFS 16383

static struct rte_sched_port *sched_port(void)
{
	/* Bytes per second of a wire of 100 Gb/s. Only the wire limits a class. */
	uint64_t rate = UINT64_C(12500000000);
	struct rte_sched_subport_profile_params subport_profile = {
		.tb_rate = rate, .tb_size = 1000000, .tc_period = 10};
	struct rte_sched_pipe_params pipe_profile = {
		.tb_rate = rate, .tb_size = 1000000, .tc_period = 40, .tc_ov_weight = 1, .wrr_weights = {1, 1, 1, 1}};
	static struct rte_sched_cman_params cman = {.cman_mode = RTE_SCHED_CMAN_RED};
	struct rte_sched_subport_params subport = {.n_pipes_per_subport_enabled = 1,
						   .pipe_profiles = &pipe_profile,
						   .n_pipe_profiles = 1,
						   .n_max_pipe_profiles = 1,
						   .cman_params = &cman};
	for (int class = 0; class < RTE_SCHED_TRAFFIC_CLASSES_PER_PIPE; class++) {
		subport_profile.tc_rate[class] = rate;
		pipe_profile.tc_rate[class] = rate;
		subport.qsize[class] = 64;
		for (int color = 0; color < RTE_COLORS; color++)
			cman.red_params[class][color] = (struct rte_red_params){
				.min_th = (uint16_t)(48 - 8 * color), .max_th = 64, .maxp_inv = 10, .wq_log2 = 9};
	}
	struct rte_sched_port_params params = {.name = "port",
					       .socket = 0,
					       .rate = rate,
					       .mtu = 1500,
					       .frame_overhead = RTE_SCHED_FRAME_OVERHEAD_DEFAULT,
					       .n_subports_per_port = 1,
					       .subport_profiles = &subport_profile,
					       .n_subport_profiles = 1,
					       .n_max_subport_profiles = 1,
					       .n_pipes_per_subport = 1};
	struct rte_sched_port *port = rte_sched_port_config(&params);
	if (port == NULL || rte_sched_subport_config(port, 0, &subport, 0) != 0 ||
	    rte_sched_pipe_config(port, 0, 0, 0) != 0)
		fail("the parameters of rte_sched are not valid");
	return port;
}

/* Gives a new packet the length, class and color of packet n in perhop's program. */
static void prepare(struct rte_sched_port *port, struct rte_mbuf *packet, uint64_t n)
{
	uint32_t class = classes[n % TABLE];
	uint32_t traffic_class = class < STRICT ? class : RTE_SCHED_TRAFFIC_CLASS_BE;
	packet->pkt_len = packet->data_len = (uint16_t)length_of(n);
	rte_sched_port_pkt_write(port, packet, 0, 0, traffic_class, class < STRICT ? 0 : class - STRICT,
				 (enum rte_color)colors[n % TABLE]);
}

/* Measures a port: `burst` packets are enqueued, then up to 32 are dequeued. The measured time contains both
 * operations, but not the creation of packets. */
static void port(const char *name, unsigned burst, struct rte_mempool *pool)
{
	if (!wanted(name))
		return;
	numbers(classes, 4, CLASSES);
	struct rte_sched_port *port = sched_port();
	struct result result = start();
	uint64_t n = 0;
	for (int batch = 0; batch < 2 * batches; batch++) {
		uint64_t cycles = 0, packets = 0;
		while (packets < BATCH) {
			struct rte_mbuf *in[64], *out[BURST];
			if (rte_pktmbuf_alloc_bulk(pool, in, burst) != 0)
				fail("the pool has no free packet");
			for (unsigned i = 0; i < burst; i++)
				prepare(port, in[i], n++ % PACKETS);
			uint64_t before = rte_rdtsc();
			int joined = rte_sched_port_enqueue(port, in, burst);
			int left = rte_sched_port_dequeue(port, out, BURST);
			cycles += rte_rdtsc() - before;
			packets += burst;
			result.outcomes[0] += (unsigned)joined;
			result.outcomes[1] += burst - (unsigned)joined;
			rte_pktmbuf_free_bulk(out, (unsigned)left);
		}
		if (batch >= batches)
			result.times[batch - batches] =
				(double)cycles * 1e9 / (double)rte_get_tsc_hz() / (double)packets;
	}
	print(name, &result);
	rte_sched_port_free(port);
}

/* ---- one queue without a port ---- */

#define LIMIT 64

/* The queue: the lengths of its packets, and the time at which the next packet may leave, cycles. */
static struct {
	uint32_t lengths[LIMIT], first, packets;
	double now;
} fifo;
static struct rte_pie pie_state;
static struct rte_pie_config pie_config;

/* Enqueues packet n. After a burst, dequeues up to 32 packets at 100 Gb/s. Returns 1 if PIE dropped packet n or the
 * queue was full. */
static inline int join(uint64_t n, unsigned burst, double cycles_per_byte, bool managed)
{
	uint32_t length = length_of(n % PACKETS);
	bool dropped = fifo.packets == LIMIT;
	if (managed)
		dropped |= rte_pie_enqueue(&pie_config, &pie_state, fifo.packets, length, (uint64_t)fifo.now) != 0;
	if (!dropped)
		fifo.lengths[(fifo.first + fifo.packets++) % LIMIT] = length;
	if (n % burst == burst - 1)
		for (int left = 0; left < BURST && fifo.packets > 0; left++) {
			uint32_t leaving = fifo.lengths[fifo.first++ % LIMIT];
			fifo.packets--;
			fifo.now += leaving * cycles_per_byte;
			if (managed) {
				/* rte_sched also updates these fields. */
				pie_state.qlen--;
				pie_state.qlen_bytes -= leaving;
				rte_pie_dequeue(&pie_state, leaving, (uint64_t)fifo.now);
			}
		}
	return dropped;
}

/* Measures a queue with PIE or with tail drop alone. PIE has the parameters of RFC 8033, in milliseconds. */
static void one_queue(const char *name, unsigned burst, bool managed)
{
	if (!wanted(name))
		return;
	if (rte_pie_config_init(&pie_config, 15, 15, 150, LIMIT) != 0 || rte_pie_rt_data_init(&pie_state) != 0)
		fail("the parameters of PIE are not valid");
	memset(&fifo, 0, sizeof fifo);
	double cycles_per_byte = (double)rte_get_tsc_hz() / UINT64_C(12500000000);
	TIME(name, join(n, burst, cycles_per_byte, managed));
}

/* Starts DPDK without huge pages, devices or files, so that it runs on any machine. It may then use
 * all processors of this process. */
static void start_dpdk(char *program)
{
	cpu_set_t processors;
	int first = 0;
	if (sched_getaffinity(0, sizeof processors, &processors) != 0)
		fail("the processors of this process are unknown");
	while (first < CPU_SETSIZE - 1 && !CPU_ISSET(first, &processors))
		first++;
	char place[32];
	snprintf(place, sizeof place, "--lcores=0@%d", first);
	char *options[] = {program, "--no-huge", "--no-pci", "--no-shconf", "--no-telemetry", "-m",
			   "256",   place,       "--log-level=error", NULL};
	if (rte_eal_init(sizeof options / sizeof *options - 1, options) < 0)
		fail("DPDK does not start");
	sched_setaffinity(0, sizeof processors, &processors);
}

int main(int argc, char **argv)
{
	start_dpdk(argv[0]);
	if (argc > 1)
		only = argv[1];
	if (argc > 2)
		batches = atoi(argv[2]);
	gap = rte_get_tsc_hz() * 6 / 10000000;
	numbers(lengths, 1, 1437);
	numbers(colors, 2, 3);
	meters(1);
	meters(4096);
	for (unsigned instances = 1; instances <= 4096; instances += 4095) {
		red("below-min", instances, 1, 31);
		red("in-region", instances, 33, 63);
	}
	one_queue("one-queue/tail-drop/light", BURST, false);
	one_queue("one-queue/tail-drop/overloaded", 40, false);
	one_queue("one-queue/pie/light", BURST, true);
	one_queue("one-queue/pie/overloaded", 40, true);
	struct rte_mempool *pool = rte_pktmbuf_pool_create("packets", MBUFS, 256, 0, 128, SOCKET_ID_ANY);
	if (pool == NULL)
		fail("there is no memory for packets");
	port("port/rte-sched/light", BURST, pool);
	port("port/rte-sched/overloaded", 40, pool);
	rte_eal_cleanup();
	return 0;
}
