/** Collects unhandled rejections, which would end the process of the service. */
export function collectUnhandled(): { readonly reasons: readonly unknown[]; release(): void } {
  const reasons: unknown[] = [];
  const before = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', (reason) => reasons.push(reason));
  return {
    reasons,
    release: () => {
      process.removeAllListeners('unhandledRejection');
      for (const listener of before) process.on('unhandledRejection', listener);
    },
  };
}
