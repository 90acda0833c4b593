/**
 * Runs a program in separate namespaces on the core that is not measured. Its network has only loopback with all ports
 * free. All its processes end with it.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpus } from 'node:os';

/** The service gets the other core. */
const LOAD_CORE = 1;
/**
 * Before what else this machine does; only SIPp is of real time: threads of Node wait for each other in loops, which never
 * ends where threads of equal priority share a core.
 */
const NICE = -15;

/** Ephemeral ports stay out of the ranges of RTP. */
const PREPARE = `echo ${NICE} 2>/dev/null >/proc/self/autogroup || true
ip link set lo up
sysctl -qw net.ipv4.ip_local_port_range="61000 65500"
ulimit -n "$(ulimit -Hn)"
exec nice -n ${NICE} taskset -c ${LOAD_CORE} "$@"`;

const asUser = (): readonly string[] => (process.getuid?.() === 0 ? [] : ['--map-root-user']);

/** Returns true if this machine has a second core and allows network namespaces. */
export const mayHaveOwnNetwork = (): boolean =>
  cpus().length >= 2 && spawnSync('unshare', [...asUser(), '--net', 'true']).status === 0;

/** Runs the file with Node and gives the one message that it sends. */
export async function inOwnNetwork<T>(file: string, args: readonly string[] = []): Promise<T> {
  const spaces = ['--net', '--pid', '--fork', '--kill-child', '--mount-proc'];
  const command = ['sh', '-c', PREPARE, 'sh', process.execPath, file, ...args];
  const child = spawn('unshare', [...asUser(), ...spaces, ...command], {
    // A separate session can be scheduled before other processes of this machine (sched(7), autogroup).
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  let message: T | undefined;
  child.on('message', (given) => {
    message = given as T;
  });
  const [code, signal] = (await once(child, 'exit')) as [number | null, string | null];
  if (message === undefined) throw new Error(`ended with ${signal ?? code} and no result`);
  return message;
}
