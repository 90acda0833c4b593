/** Files that the settings name: one line for each that cannot be used, which names the setting. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { createSecureContext } from 'node:tls';
import type { Settings } from '../../config/schema.ts';

const PEM = /-----BEGIN CERTIFICATE-----[\s\S]+?-----END CERTIFICATE-----/g;

/** Returns why the file cannot be used. */
type Reading = (text: string) => string | undefined;

export function fileProblems(settings: Settings): readonly string[] {
  const { http, sip, streams, calls, stir, invoices, dataExport, store } = settings;
  const music = calls.holdMusic;
  const isOwnMusic = music === 'default' || music === 'silence';
  return [
    ...identity('http', http),
    ...identity('sip', sip),
    ...named('sip.tlsCaFile', sip.tlsCaFile, certificates),
    ...named('streams.caFile', streams.caFile, certificates),
    ...named('stir.trustAnchorsFile', stir.trustAnchorsFile, certificates),
    ...named('stir.keyFile', stir.keyFile, signingKey),
    ...named('calls.holdMusic', isOwnMusic ? '' : music),
    ...named('invoices.font', invoices.font),
    ...named('store.url sslrootcert', parameter(store.url, 'sslrootcert'), certificates),
    ...folder('dataExport.folder', dataExport.folder),
  ];
}

/** A certificate and its key, which must belong together. */
function identity(
  part: 'http' | 'sip',
  { tlsCertFile, tlsKeyFile }: { readonly tlsCertFile: string; readonly tlsKeyFile: string },
): readonly string[] {
  const problems = [
    ...named(`${part}.tlsCertFile`, tlsCertFile, certificates),
    ...named(`${part}.tlsKeyFile`, tlsKeyFile, privateKey),
  ];
  if (problems.length > 0 || tlsCertFile === '' || tlsKeyFile === '') return problems;
  try {
    createSecureContext({ cert: readFileSync(tlsCertFile), key: readFileSync(tlsKeyFile) });
    return [];
  } catch (error) {
    return [
      `${part}.tlsKeyFile ${tlsKeyFile} does not belong to ${part}.tlsCertFile ${tlsCertFile}: ${messageOf(error)}`,
    ];
  }
}

function named(name: string, file: string, read?: Reading): readonly string[] {
  if (file === '') return [];
  try {
    accessSync(file, constants.R_OK);
    if (!statSync(file).isFile()) return [`${name} ${file} is not a file`];
    const why = read?.(readFileSync(file, 'utf8'));
    return why === undefined ? [] : [`${name} ${file} cannot be used: ${why}`];
  } catch (error) {
    return [`${name} names a file that cannot be read: ${messageOf(error)}`];
  }
}

function folder(name: string, path: string): readonly string[] {
  if (path === '') return [];
  try {
    if (!statSync(path).isDirectory()) return [`${name} ${path} is not a folder`];
    accessSync(path, constants.W_OK | constants.X_OK);
    return [];
  } catch (error) {
    return [`${name} names a folder that cannot be written: ${messageOf(error)}`];
  }
}

function certificates(text: string): string | undefined {
  const blocks = text.match(PEM) ?? [];
  if (blocks.length === 0) return 'it holds no PEM certificate';
  try {
    for (const block of blocks) new X509Certificate(block);
    return undefined;
  } catch (error) {
    return `a certificate in it is damaged: ${messageOf(error)}`;
  }
}

function privateKey(text: string): string | undefined {
  try {
    createPrivateKey(text);
    return undefined;
  } catch (error) {
    return `it holds no PEM private key without passphrase: ${messageOf(error)}`;
  }
}

/** ES256 needs a key of P-256 (RFC 8225 §6). */
function signingKey(text: string): string | undefined {
  const why = privateKey(text);
  if (why !== undefined) return why;
  const curve = createPrivateKey(text).asymmetricKeyDetails?.namedCurve;
  return curve === 'prime256v1' ? undefined : 'it is not a P-256 key';
}

/** A parameter of the database's URL; '' where it is absent or `system`. */
function parameter(url: string, name: string): string {
  const found = new RegExp(`[?&]${name}=([^&]+)`).exec(url)?.[1];
  if (found === undefined || found === 'system') return '';
  try {
    return decodeURIComponent(found);
  } catch {
    return found;
  }
}

const messageOf = (error: unknown): string =>
  (error instanceof Error ? error.message : String(error)).split('\n').join(' ');
