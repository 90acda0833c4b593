import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asAccountId } from '../../../src/base/ids.ts';
import { micros } from '../../../src/base/money.ts';
import { openCredentials, sealCredentials } from '../../../src/edge/store/sealed-text.ts';
import { ephemeralKey, Vault } from '../../../src/edge/store/vault.ts';
import { openAt, withFolder } from './open.ts';
import { aNotification, anAccount, anEntry, anOpenCall, START_US } from './records.ts';

const URL = 'https://bob:s3cret@hooks.example/a?x=1';
const vault = new Vault(ephemeralKey());

describe('passwords inside stored URLs', () => {
  it.each([
    URL,
    'wss://s3cret@bot.example',
    'sip:trunk:s3cret@carrier.example:5080;transport=tcp',
    '{"a":"https://u:s3cret@h/","b":["ftp://s3cret@h"]}',
    'https://vault.s3cret@h/',
  ])('%s: are encrypted and decrypted unchanged', (text) => {
    const sealed = sealCredentials(text, vault);
    expect(sealed).not.toContain('s3cret');
    expect(openCredentials(sealed, vault)).toBe(text);
  });

  it.each([190, 340, 400, 501, 5000])('keeps a SIP password of %i characters', (length) => {
    const text = `sip:a:${'x'.repeat(length)}@h`;
    expect(openCredentials(sealCredentials(text, vault), vault)).toBe(text);
  });

  it('cannot be decrypted with another host', () => {
    const moved = sealCredentials(URL, vault).replace('hooks.example', 'evil.example');
    expect(() => openCredentials(moved, vault)).toThrow('cannot be decrypted');
  });

  it('do not appear in the database files, and are read back unchanged', () =>
    withFolder(async (folder) => {
      const { store } = await openAt(folder);
      const accountId = asAccountId('MA_AAAAAAAAAAAAAAAAA');
      await store.accounts.create(anAccount({ lowBalanceUrl: URL }), 'token');
      await store.ledger.post([anEntry()], { checked: false });
      const { appId } = await store.applications.insert({
        accountId,
        subAccount: undefined,
        name: 'app',
        answerUrl: URL,
        answerMethod: 'POST',
        hangupUrl: URL,
        hangupMethod: 'POST',
        fallbackAnswerUrl: URL,
        fallbackMethod: 'POST',
        messageUrl: URL,
        messageMethod: 'POST',
        defaultApp: false,
        defaultEndpointApp: false,
        enabled: true,
        logIncomingMessage: false,
        publicUri: false,
        callerId: undefined,
        agent: undefined,
        createdUs: START_US,
        updatedUs: START_US,
      });
      await store.applications.patch(accountId, appId, { hangupUrl: `${URL}&again` });
      const notification = aNotification({ target: { url: URL, method: 'POST' } });
      await store.notifications.put(notification);
      const call = anOpenCall({ hangupNotification: notification, reserved: micros(1) });
      await store.calls.open(call, undefined);
      await store.calls.update(call);

      expect((await store.accounts.get(accountId))?.lowBalanceUrl).toBe(URL);
      const application = await store.applications.get(appId);
      expect([application?.answerUrl, application?.hangupUrl]).toEqual([URL, `${URL}&again`]);
      expect(await store.notifications.listPending(10)).toEqual([notification]);
      expect((await store.calls.listOpen())[0]?.hangupNotification).toEqual(notification);
      expect(bytesOf(folder)).not.toContain('s3cret');
      await store.close();
      expect(bytesOf(folder)).not.toContain('s3cret');
    }));
});

const bytesOf = (folder: string): string =>
  readdirSync(folder)
    .filter((name) => name.startsWith('carillon.db'))
    .map((name) => readFileSync(join(folder, name), 'latin1'))
    .join('');
