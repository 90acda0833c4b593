import { expect, it } from 'vitest';
import { listenError, listenProblem } from '../../src/base/listen-error.ts';

const place = {
  what: 'SIP port TLS',
  host: '192.0.2.1',
  port: 5061,
  isOptional: true,
  portSetting: 'CARILLON_SIP_TLS_PORT',
  hostSetting: 'CARILLON_SIP_HOST',
};

it.each([
  ['EADDRINUSE', 'in use by another program; set CARILLON_SIP_TLS_PORT to a free one, or to 0'],
  ['EACCES', 'CAP_NET_BIND_SERVICE'],
  ['EADDRNOTAVAIL', '192.0.2.1 is not an address of this machine; set CARILLON_SIP_HOST'],
  ['ENOTFOUND', 'not known to the name servers'],
  ['EMFILE', '(EMFILE); see CARILLON_SIP_TLS_PORT'],
])('explains in one line how to fix %s', (code, words) => {
  const problem = listenProblem(code, place);
  expect(problem).toContain('SIP port TLS 192.0.2.1:5061');
  expect(problem).toContain(words);
  expect(problem).not.toContain('\n');
});

it('does not suggest port 0 for a required port', () => {
  expect(listenProblem('EADDRINUSE', { ...place, isOptional: false })).not.toContain('0 for none');
});

it('keeps the system error as its cause', () => {
  const cause = Object.assign(new Error('listen EADDRINUSE'), { code: 'EADDRINUSE' });
  expect(listenError(cause, place)).toMatchObject({ code: 'PORT_IN_USE', cause });
});
