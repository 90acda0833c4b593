/** Derives the settings of the REST interface from the operator's settings. */
import { join } from 'node:path';
import type { RestSettings } from '../../edge/rest/server.ts';
import { LINK_KEY_FILE, storedSecret } from '../data-folder.ts';
import type { Derived } from '../settings.ts';
import { type Basics, recordingsFolder } from './foundation.ts';

export function restSettings(
  { settings, dataDir, random }: Pick<Basics, 'settings' | 'dataDir' | 'random'>,
  derived: Derived,
): RestSettings {
  const { http, compat, recordings, platformName, callerId } = settings;
  const { tlsCertFile: certFile, tlsKeyFile: keyFile } = http;
  return {
    ...http,
    ...(certFile === '' ? {} : { tls: { certFile, keyFile } }),
    publicUrl: derived.publicUrl,
    operatorPages: derived.operatorPages,
    registrarHost: derived.registrarHost,
    makeCallStatus: compat.makeCallStatus === 201 ? 201 : 200,
    strictVobizSdk: compat.strictVobizSdk,
    callerIdPolicy: callerId.policy,
    invoiceFont: settings.invoices.font,
    invoiceSeller: settings.invoices.seller || platformName,
    platformName,
    recordingLinkMs: recordings.linkSeconds * 1000,
    linkKey: storedSecret(dataDir, LINK_KEY_FILE, random),
    recordingsFolder: recordingsFolder(dataDir),
    exportsFolder: join(dataDir, 'exports'),
  };
}
