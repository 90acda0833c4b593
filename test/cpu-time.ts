/** CPU time of an action in milliseconds. Other programs do not change it, unlike the time of a clock. */
export function cpuTimeMs(action: () => unknown): number {
  const start = process.cpuUsage();
  action();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
