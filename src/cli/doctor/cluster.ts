/** Checks of Redis, and of what the running service reports about its cluster and its backlogs. */
import type { Settings } from '../../config/schema.ts';
import { systemClock } from '../../edge/clock/system-clock.ts';
import { readSentinelUrl, SentinelClient } from '../../edge/cluster/sentinel-client.ts';
import type { PartState } from '../../edge/rest/server.ts';
import { type Finding, good, problem, skipped, warning, within } from './finding.ts';

const CONNECT_MS = 3000;
/** Round trip in ms above which the setup of calls becomes noticeably slower: each call needs several. */
const SLOW_MS = 10;
const PINGS = 5;

export async function checkRedis({ cluster }: Pick<Settings, 'cluster'>): Promise<Finding> {
  const check = 'redis';
  if (cluster.redis === '') return skipped(check, 'not configured: this node runs alone');
  const redis = await import('@redis/client').catch(() => undefined);
  if (redis === undefined)
    return problem(
      check,
      'the package @redis/client is not installed: the node does not start in a cluster',
      'Run npm install in the project folder. In an installed tree, install it again.',
    );
  const { createClient } = redis;
  const sentinel = readSentinelUrl(cluster.redis);
  const client =
    sentinel === undefined
      ? createClient({
          url: cluster.redis,
          socket: { connectTimeout: CONNECT_MS, reconnectStrategy: false },
        })
      : new SentinelClient({
          create: createClient,
          url: sentinel,
          options: {},
          connectMs: CONNECT_MS,
          reconnectMs: CONNECT_MS,
          clock: systemClock,
        });
  // The failed connect() below reports the same error.
  client.on('error', () => undefined);
  try {
    await within<unknown>(client.connect());
    let fastestMs = Number.POSITIVE_INFINITY;
    for (let count = 0; count < PINGS; count += 1) {
      const startMs = performance.now();
      await within(client.sendCommand(['PING']));
      fastestMs = Math.min(fastestMs, performance.now() - startMs);
    }
    const found = `answers in ${fastestMs.toFixed(1)} ms`;
    return fastestMs <= SLOW_MS
      ? good(check, found)
      : warning(check, found, 'Each call waits for Redis. Run it in the same data center.');
  } catch (error) {
    // The text of the error may repeat the URL with its password.
    const { code = 'no answer' } = error as { readonly code?: string };
    return problem(
      check,
      `cannot be used: ${code}`,
      'Start Redis, or correct host, port, user and password in cluster.redis. Without it, the node accepts no calls.',
    );
  } finally {
    client.destroy();
  }
}

/** Evaluates the parts of `GET /admin/v1/status`. None if the service does not run, or its admin token is unknown. */
export function checkParts(
  parts: readonly PartState[],
  { cluster }: Pick<Settings, 'cluster'>,
): readonly Finding[] {
  if (parts.length === 0) return [];
  const countOf = (name: string): number => parts.find(({ part }) => part === name)?.count ?? 0;
  const fenced = parts.find(({ part }) => part === 'fenced');
  return [
    backlog(
      'spool',
      countOf('spool'),
      'records and notifications wait for the database',
      'Check the database (carillon alarms). The node writes them when it answers; keep the data folder.',
    ),
    backlog(
      'object storage',
      countOf('objects'),
      'recordings wait for object storage',
      'Check the s3 settings and the bucket. The node retries, and serves these recordings from its disk.',
    ),
    ...(cluster.redis === '' ? [] : clusterFindings(countOf('peers'), fenced)),
  ];
}

function clusterFindings(nodes: number, fenced: PartState | undefined): readonly Finding[] {
  return [
    fenced === undefined || fenced.ready
      ? good('lease', 'held: no other node bills the calls of this node')
      : problem('lease', fenced.detail, 'See docs/operate/troubleshooting.md.'),
    nodes > 1
      ? good('peers', `${nodes} live nodes in the cluster`)
      : warning(
          'peers',
          'no other node of the cluster is live',
          'Start the other nodes with the same cluster.redis and store.url. A single node has no failover.',
        ),
  ];
}

/** A backlog of a few units is normal: they are written within seconds. */
const NORMAL_BACKLOG = 20;

function backlog(check: string, count: number, what: string, advice: string): Finding {
  const found = `${count} ${what}`;
  return count <= NORMAL_BACKLOG ? good(check, found) : warning(check, found, advice);
}
