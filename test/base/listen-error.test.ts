import { expect, it } from 'vitest';
import { listenError, listenProblem } from '../../src/base/listen-error.ts';

const place = {
  ...{ what: 'SIP port TLS', host: '192.0.2.1', port: 5061, isOptional: true },
  ...{ portSetting: 'CARILLON_SIP_TLS_PORT', hostSetting: 'CARILLON_SIP_HOST' },
};

it.each([
  ['EADDRINUSE', 'in use by another program; set CARILLON_SIP_TLS_PORT to a free one, or to 0'],
  ['EACCES', 'CAP_NET_BIND_SERVICE'],
  ['EADDRNOTAVAIL', '192.0.2.1 is no address of this machine; set CARILLON_SIP_HOST'],
  ['ENOTFOUND', 'not known to the name servers'],
  ['EMFILE', '(EMFILE); see CARILLON_SIP_TLS_PORT'],
])('%s says in one line what to do', (code, words) => {
  const problem = listenProblem(code, place);
  expect(problem).toContain('SIP port TLS 192.0.2.1:5061');
  expect(problem).toContain(words);
  expect(problem).not.toContain('\n');
});

it('a port that has to be there may not be 0', () => {
  expect(listenProblem('EADDRINUSE', { ...place, isOptional: false })).not.toContain('0 for none');
});

it('keeps what the system said as its cause', () => {
  const cause = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  expect(listenError(cause, place)).toMatchObject({ code: 'PORT_IN_USE', cause });
});
