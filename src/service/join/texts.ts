/** Composes SIP text messages on the accounts and registered phones. */
import { EndpointRate, MessageRouting } from '../../domain/dispatch/dispatch.ts';
import type { Derived } from '../settings.ts';
import type { Basics, Foundation } from './foundation.ts';
import type { Lines } from './lines.ts';

export function joinTexts(
  { settings, clock, random, logger }: Basics,
  { store, accounts }: Foundation,
  { signalling, callbacks }: Pick<Lines, 'signalling' | 'callbacks'>,
  { registrarHost }: Derived,
): MessageRouting {
  return new MessageRouting({
    accounts,
    callbacks,
    logger,
    random,
    registrarHost,
    applications: store.applications,
    endpoints: store.endpoints,
    numbers: store.numbers,
    texting: signalling.texts,
    addresses: signalling.addresses,
    isRegistered: (username) => signalling.isRegistered(username),
    rate: new EndpointRate(clock, settings.endpoints.messagesPerMinute),
  });
}
