import { type Clock, wallUs } from '../../base/clock.ts';
import type { AccountId } from '../../base/ids.ts';
import { opensPath, signPath } from '../../domain/recording/recording.ts';
import type { Recording } from '../../domain/recording/types.ts';
import { canonicalPath } from './http/url.ts';
import { recordingFilePath } from './wire/recording.ts';

export interface LinkSettings {
  /** Base URL of links, without a trailing slash. */
  readonly publicUrl: string;
  readonly linkKey: string;
  readonly recordingLinkMs: number;
}

/**
 * Signed links, each of which opens one file for a limited time without credentials (spec Limits: recording playback links).
 */
export interface SignedLinks {
  toRecording(recording: Pick<Recording, 'accountId' | 'recordingId' | 'format'>): string;
  toExport(accountId: AccountId, exportId: string): string;
  /** Returns whether the signature in `query` is valid for `url` now. */
  opens(url: string, query: { readonly exp?: string; readonly sig?: string }): boolean;
}

/** Lifetime of links in export mails, milliseconds. A week, because mails are read later than callbacks. */
export const EXPORT_LINK_MS = 7 * 86_400_000;

const exportFilePath = (accountId: AccountId, exportId: string): string =>
  `/api/v1/Account/${accountId}/export/recording/${exportId}.zip`;

export function createSignedLinks(
  settings: LinkSettings,
  clock: Pick<Clock, 'wallMs'>,
): SignedLinks {
  const nowUs = (): number => wallUs(clock);
  const link = (path: string, lifetimeMs: number): string =>
    `${settings.publicUrl}${signPath(settings.linkKey, path, nowUs() + lifetimeMs * 1000)}`;
  return {
    toRecording: (recording) => link(recordingFilePath(recording), settings.recordingLinkMs),
    toExport: (accountId, exportId) => link(exportFilePath(accountId, exportId), EXPORT_LINK_MS),
    opens(url, { exp = '', sig = '' }) {
      const path = canonicalPath('GET', url.split('?', 1)[0] ?? '');
      return opensPath(settings.linkKey, { path, exp, sig }, nowUs());
    },
  };
}
