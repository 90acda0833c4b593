/** Runs the bot conformance tests against the built-in echo bot. */
import { afterAll } from 'vitest';
import { silentLogger } from '../../src/base/logger.ts';
import { type Demo, startDemo } from '../../src/demo/demo.ts';
import { describeBotConformance } from './bot-suite.ts';

let demo: Promise<Demo> | undefined;
afterAll(async () => (await demo)?.stop());

describeBotConformance('demo bot', {
  async url() {
    demo ??= startDemo({ host: '127.0.0.1', port: 0, logger: silentLogger });
    return (await demo).streamUrl;
  },
});
