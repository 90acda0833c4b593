import { expect, it, vi } from 'vitest';
import { silentLogger } from '../../../src/base/logger.ts';
import { createMailer } from '../../../src/edge/mail/mailer.ts';
import { SimClock } from '../../sim/clock.ts';
import { seededRandom } from '../store/open.ts';

const load = vi.hoisted(() => ({ fails: true, sent: 0 }));
vi.mock('nodemailer', () => ({
  createTransport: () => {
    if (load.fails) throw new Error('too many open files');
    return { sendMail: async () => (load.sent += 1), close: () => undefined };
  },
}));

it('loads the package again after a failure', async () => {
  const mailer = createMailer({
    smtpUrl: 'smtp://127.0.0.1:9',
    from: 'voice@example.test',
    outboxFolder: '',
    logger: silentLogger,
    clock: new SimClock(),
    random: seededRandom(),
  });
  const mail = { to: 'ada@example.test', subject: 'Ready', text: 'Here' };
  const failed = mailer.send(mail);
  // An unhandled rejection would fail this test.
  mailer.close();
  await expect(failed).rejects.toMatchObject({ code: 'MAIL_FAILED' });
  load.fails = false;
  await mailer.send(mail);
  expect(load.sent).toBe(1);
  mailer.close();
});
