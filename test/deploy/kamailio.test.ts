import { describe, expect, it } from 'vitest';
import { checkConfig, missingModules } from './kamailio.ts';

const lacking = missingModules();
if (lacking === undefined) console.log('skipped: kamailio not installed');
else if (lacking.length > 0)
  console.log(`skipped: ${lacking.join(', ')} of Kamailio not installed`);

describe.skipIf(lacking?.length !== 0)('deploy/kamailio', () => {
  const files = {
    NODES_FILE: 'deploy/kamailio/dispatcher.list',
    TLS_FILE: 'deploy/kamailio/tls.cfg',
    RUN_DIR: '/tmp',
  };

  it.each([
    ['unchanged', {}],
    [
      'hides the topology, behind a public address',
      { WITH_TOPOLOGY_HIDING: '', ADVERTISED: '192.0.2.1' },
    ],
    ['for pages of one origin', { WS_ORIGINS: '"^https://voice\\.example$"' }],
  ])('is valid: %s', (_, more) => {
    expect(checkConfig({ ...files, ...more })).toBeUndefined();
  });

  it('is rejected with an error in it', () => {
    expect(checkConfig({ ...files, WORKERS: 'many' })).toContain('rror');
  });
});
