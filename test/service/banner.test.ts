import { describe, expect, it } from 'vitest';
import type { DemoFile } from '../../src/phone/options.ts';
import { type BannerFacts, banner } from '../../src/service/banner.ts';

const COLUMNS = 80;
/** One row less than the screen, for the prompt. */
const ROWS = 23;

const demo: DemoFile = {
  sipHost: '192.168.100.100',
  sipPort: 5060,
  username: 'alice12345',
  password: 'Tm9wZU5vcGVOb3Bl',
  dial: '1000',
  baseUrl: 'https://voice.example.test:8443',
  authId: 'MA0123456789ABCDEFGH',
  authToken: 'dG9rZW50b2tlbnRva2VudG9rZW50b2tlbnRva2VudG9',
};
const later: BannerFacts = {
  version: '10.20.30',
  baseUrl: demo.baseUrl,
  sip: '192.168.100.100:5060',
  demo,
  demoPath: 'data/demo.json',
  answers: true,
  isFirst: false,
  isTerminal: true,
  invitation: undefined,
};
const invitation = `${demo.baseUrl}/console#/welcome/${'t'.repeat(43)}`;
const starts: Readonly<Record<string, BannerFacts>> = {
  'a first start': { ...later, isFirst: true, invitation },
  'a later start': later,
  'a start without the demo': { ...later, demo: undefined, answers: false },
};

/** Rows on a terminal that wraps long lines. */
const rowsOf = (text: string): number =>
  text.split('\n').reduce((rows, line) => rows + Math.max(1, Math.ceil(line.length / COLUMNS)), 0);

describe('the banner of a start', () => {
  it.each(Object.entries(starts))('fits on one screen at %s', (_name, facts) => {
    expect(rowsOf(banner(facts))).toBeLessThanOrEqual(ROWS);
  });

  it.each(Object.entries(starts))('has the console link and how to stop at %s', (_name, facts) => {
    expect(banner(facts)).toContain(`${demo.baseUrl}/console`);
    expect(banner(facts)).toMatch(/Stop +Ctrl\+C/);
  });

  it('has the phone link and the number to dial', () => {
    const link = `${demo.baseUrl}/phone#user=alice12345&password=${demo.password}&dial=1000`;
    expect(banner(later)).toContain(link);
    expect(banner(later)).toMatch(/Dial +1000/);
  });

  it('has no number to dial while the demo is disabled', () => {
    expect(banner({ ...later, answers: false })).not.toMatch(/Dial|npm run call/);
  });

  it('has all credentials and the invitation at the first start only', () => {
    const secrets = [demo.authToken, invitation, `SIP password   ${demo.password}`];
    for (const secret of secrets) {
      expect(banner({ ...later, isFirst: true, invitation })).toContain(secret);
      expect(banner(later)).not.toContain(secret);
    }
  });

  it('has no password at later starts that do not write to a terminal', () => {
    const text = banner({ ...later, isTerminal: false });
    expect(text).not.toContain(demo.password);
    expect(text).toContain('/phone\n');
  });
});
