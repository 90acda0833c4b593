import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { createMailer } from '../../../src/edge/mail/mailer.ts';
import { SimClock } from '../../sim/clock.ts';
import { seededRandom } from '../store/open.ts';
import { smtpServer } from './smtp-server.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'carillon-mail-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const mailer = (smtpUrl: string) =>
  createMailer({
    smtpUrl,
    from: 'voice@example.test',
    outboxFolder: join(folder, 'outbox'),
    logger: silentLogger,
    clock: new SimClock(),
    random: seededRandom(),
  });

describe('mail', () => {
  it('writes an .eml file readable only by its owner without SMTP', async () => {
    await mailer('').send({ to: 'ada@example.test', subject: 'Ready', text: 'Here: http://x' });
    const [name] = readdirSync(join(folder, 'outbox'));
    expect(name).toMatch(/^20260101T000000Z-[0-9a-f-]{36}\.eml$/);
    const path = join(folder, 'outbox', name ?? '');
    const eml = readFileSync(path, 'utf8');
    expect(eml).toContain('To: ada@example.test\r\n');
    expect(eml).toContain('From: voice@example.test\r\n');
    expect(eml).toContain('Subject: Ready\r\n');
    expect(eml).toContain('Here: http://x');
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('sends over SMTP when a server is configured', async () => {
    const { server, url, seen } = await smtpServer();
    const smtp = mailer(url);
    await smtp.send({ to: 'ada@example.test', subject: 'Ready', text: 'Here' });
    smtp.close();
    server.close();
    expect(seen.some((line) => line.startsWith('RCPT TO:<ada@example.test>'))).toBe(true);
    expect(seen).toContain('Subject: Ready');
  });

  it('fails with MAIL_FAILED, without credentials in the text, if the server refuses or is unreachable', async () => {
    const { server, url } = await smtpServer(true);
    const refusing = mailer(url);
    const mail = { to: 'ada@example.test', subject: 'x', text: 'y' };
    await expect(refusing.send(mail)).rejects.toMatchObject({ code: 'MAIL_FAILED' });
    refusing.close();
    server.close();
    const nobody = mailer('smtp://user:hunter2@127.0.0.1:9');
    const error = await nobody.send(mail).catch((reason: Error) => reason);
    nobody.close();
    expect(error).toMatchObject({ code: 'MAIL_FAILED' });
    expect(String(error)).not.toContain('hunter2');
  });
});
