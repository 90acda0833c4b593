#!/usr/bin/env node
// Records a database of an earlier version: node record.mjs TREE OUT NAME
// TREE is a built checkout of that version. Its service serves phones, a carrier, campaigns and the REST API on
// loopback. Then it is
// stopped (NAME-stopped), and killed (NAME-killed) during calls with a stream, a recording and a conference.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import { createServer as createTcp } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';

const [tree, out, name] = [resolve(process.argv[2]), resolve(process.argv[3]), process.argv[4]];
const require = createRequire(join(tree, 'package.json'));
const { WebSocketServer } = require('ws');
const Database = require('better-sqlite3');
const data = mkdtempSync(join(tmpdir(), 'carillon-recorded-'));
const node = join(tree, 'node_modules/.bin/node');
const log = (...words) => console.log(new Date().toISOString().slice(11, 19), ...words);

const freePort = async () => {
  const server = createTcp().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address();
  server.close();
  return port;
};

// ------------------------------------------------------------------ the customer's web server and bot

let origin;
const stream = () =>
  `<Stream bidirectional="true" keepCallAlive="true" contentType="audio/x-mulaw;rate=8000">ws://${origin}/bot</Stream>`;
const DOCUMENTS = {
  1001: () => stream(),
  1002: () =>
    `<Record recordSession="true" playBeep="false" fileFormat="wav" callbackUrl="http://${origin}/fails/recording"/><Wait length="60"/>`,
  1003: () => '<Conference beep="false">Meeting</Conference>',
  1004: () => '<Dial callerId="14155550100"><Number>14155550111</Number></Dial>',
  1005: () =>
    `<Record recordSession="true" playBeep="false" fileFormat="wav" callbackUrl="http://${origin}/fails/recording"/>${stream()}`,
};
const web = createServer((request, response) => {
  let body = '';
  request.on('data', (chunk) => {
    body += chunk;
  });
  request.on('end', () => {
    const { pathname, searchParams } = new URL(request.url, `http://${origin}`);
    const to = new URLSearchParams(body).get('To') ?? searchParams.get('To') ?? '';
    if (pathname.startsWith('/fails')) return; // never answered, so the callback stays queued
    const document = Object.entries(DOCUMENTS).find(([number]) => to.includes(number))?.[1];
    response.setHeader('content-type', 'text/xml');
    response.end(`<Response>${document?.() ?? '<Wait length="30"/>'}</Response>`);
  });
}).listen(0, '127.0.0.1');
await once(web, 'listening');
origin = `127.0.0.1:${web.address().port}`;
new WebSocketServer({ server: web }).on('connection', (socket) =>
  socket.on('message', () => undefined),
);

// ------------------------------------------------------------------ the service of that version

/** Disables ports that some versions open by default. */
function portsOff() {
  const { sip } = JSON.parse(readFileSync(join(tree, 'config/default.json'), 'utf8'));
  const names = { tlsPort: 'TLS', wsPort: 'WS', wssPort: 'WSS' };
  return Object.fromEntries(
    Object.entries(names)
      .filter(([key]) => key in sip)
      .map(([, part]) => [`CARILLON_SIP_${part}_PORT`, '0']),
  );
}
const rtp = 40000 + 2 * Math.floor(Math.random() * 4000);
const environment = {
  ...process.env,
  CARILLON_DATA_DIR: data,
  CARILLON_HTTP_PORT: String(await freePort()),
  CARILLON_SIP_PORT: String(await freePort()),
  ...portsOff(),
  CARILLON_RTP_PORT_MIN: String(rtp),
  CARILLON_RTP_PORT_MAX: String(rtp + 399),
  CARILLON_ADMIN_TOKEN: 'admin-token-of-a-recorded-version-0001',
};
const base = `http://127.0.0.1:${environment.CARILLON_HTTP_PORT}`;
const ours = [];

async function start() {
  const service = spawn(node, ['src/main.ts'], {
    cwd: tree,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  ours.push(service);
  let text = '';
  for (const pipe of [service.stdout, service.stderr])
    pipe.on('data', (chunk) => {
      text = (text + chunk).slice(-4000);
    });
  service.on('exit', (code) => log('service ended', code));
  for (let tries = 0; tries < 240; tries += 1) {
    await sleep(500);
    if (service.exitCode !== null) throw new Error(text);
    if (
      (await fetch(`${base}/readyz`).then(
        (r) => r.ok,
        () => false,
      )) &&
      existsSync(join(data, 'demo.json'))
    )
      return service;
  }
  throw new Error(`not ready: ${text}`);
}

let demo;
async function call(method, path, body, headers) {
  const form = body instanceof FormData;
  const reply = await fetch(base + path, {
    method,
    headers: { ...headers, ...(body && !form ? { 'content-type': 'application/json' } : {}) },
    body: form ? body : body && JSON.stringify(body),
  });
  const text = await reply.text();
  if (!reply.ok) log(method, path, reply.status, text.slice(0, 200));
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}
const auth = () => ({ 'x-auth-id': demo.authId, 'x-auth-token': demo.authToken });
const api = (method, path, body) =>
  call(method, `/api/v1/Account/${demo.authId}/${path}`, body, auth());
const apiLower = (method, path, body) =>
  call(method, `/api/v1/account/${demo.authId}/${path}`, body, auth());
const admin = (method, path, body) =>
  call(method, `/admin/v1${path}`, body, {
    authorization: `Bearer ${environment.CARILLON_ADMIN_TOKEN}`,
  });

function phone(endpoint, to, seconds) {
  const made = spawn(
    node,
    [
      'src/phone/main.ts',
      '--to',
      to,
      '--server',
      `127.0.0.1:${environment.CARILLON_SIP_PORT}`,
      '--user',
      endpoint.username,
      '--password',
      endpoint.password,
      '--seconds',
      String(seconds),
      '--record',
      join(data, `heard-${to}.wav`),
    ],
    { cwd: tree, env: environment, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  ours.push(made);
  let text = '';
  for (const pipe of [made.stdout, made.stderr])
    pipe.on('data', (chunk) => {
      text += chunk;
    });
  return once(made, 'exit').then(([code]) =>
    log(`phone ${to} ended with ${code}`, code > 1 ? text : ''),
  );
}

async function endpoint(username, appId) {
  const password = `Pw-of-${username}-2026`;
  const made = await api('POST', 'Endpoint/', {
    username,
    password,
    alias: username,
    app_id: appId,
  });
  return { username: made.username, password };
}

const carrierPort = await freePort();
const carrier = spawn(
  'sipp',
  ['-sn', 'uas', '-i', '127.0.0.1', '-p', String(carrierPort), '-bg', '-nostdin'],
  { stdio: 'ignore' },
);
carrier.on('error', () => log('no sipp: calls to the carrier fail'));
// -bg forks. At the end the process is found by its port.
const endCarrier = () => {
  try {
    execFileSync('fuser', ['-k', '-n', 'udp', String(carrierPort)], { stdio: 'ignore' });
  } catch {
    /* it has ended */
  }
};

function keep(state) {
  mkdirSync(out, { recursive: true });
  const copy = join(data, 'copy.db');
  rmSync(copy, { force: true });
  const from = new Database(join(data, 'carillon.db'));
  from.exec(`VACUUM INTO '${copy}'`);
  const version = from.pragma('user_version', { simple: true });
  from.close();
  writeFileSync(join(out, `${name}-${state}.db.gz`), gzipSync(readFileSync(copy), { level: 9 }));
  copyFileSync(join(data, 'keys/store.key'), join(out, `${name}-${state}.key`));
  const facts = { schema: Number(version), authId: demo.authId, authToken: demo.authToken };
  writeFileSync(join(out, `${name}-${state}.json`), `${JSON.stringify(facts)}\n`);
  log('kept', state, facts.schema);
}

async function campaign(title, agent, more) {
  const made = await apiLower('POST', 'campaigns', {
    name: title,
    agent_id: agent,
    max_concurrent: 2,
    timezone: 'UTC',
    caller_id_strategy: 'fixed',
    fixed_caller_id: '14155550100',
    ...more,
  });
  const id = made.id ?? made.campaign_id;
  if (id === undefined) {
    log('no campaign', JSON.stringify(made).slice(0, 300));
    return undefined;
  }
  const form = new FormData();
  const rows = [0, 1, 2, 3, 4, 5].map((row) => `1415556${String(row).padStart(4, '0')},Ada ${row}`);
  form.append(
    'file',
    new Blob([`to,name\n${rows.join('\n')}\n`], { type: 'text/csv' }),
    'contacts.csv',
  );
  await apiLower('POST', `campaigns/${id}/upload`, form);
  return id;
}

try {
  let service = await start();
  demo = JSON.parse(readFileSync(join(data, 'demo.json'), 'utf8'));
  const application = await api('POST', 'Application/', {
    app_name: 'recorded',
    answer_url: `http://${origin}/answer`,
    hangup_url: `http://${origin}/fails/hangup`,
  });
  const ada = await endpoint('ada', application.app_id);
  const bob = await endpoint('bob', application.app_id);
  await admin('POST', `/accounts/${demo.authId}/caller-ids`, { number: '+14155550100' });
  await admin('POST', '/carriers', {
    name: 'north',
    host: '127.0.0.1',
    port: carrierPort,
    transport: 'udp',
    prefixes: [''],
    auth: { username: 'us', password: 'secret-of-north', register: false },
  });
  await api('POST', 'Subaccount/', { name: 'branch', enabled: true });
  const uri = await api('POST', 'origination-uris', {
    name: 'pbx',
    sip_uri: 'sip:127.0.0.1:5099',
    priority: 1,
    weight: 1,
  });
  log('uri', JSON.stringify(uri).slice(0, 80));
  log('calls');
  await phone(ada, '1001', 4);
  await phone(ada, '1002', 3);
  await Promise.all([phone(ada, '1003', 4), phone(bob, '1003', 4)]);
  await phone(ada, '1004', 3);
  await api('POST', 'Call/', {
    from: '14155550100',
    to: '14155550112',
    answer_url: `http://${origin}/answer`,
    hangup_url: `http://${origin}/fails/hangup`,
    time_limit: 3,
  });
  let agent;
  if (existsSync(join(tree, 'src/domain/campaign'))) {
    agent = await apiLower('POST', 'campaign/agents', {
      name: 'Reminders',
      answer_url: `http://${origin}/answer`,
      hangup_url: `http://${origin}/fails/hangup`,
      sip_headers: { Kind: 'reminder' },
      record: true,
      time_limit: 2,
    });
    const id = await campaign('done', agent.id ?? agent.agent_id, {
      notify_url: `http://${origin}/fails/notify`,
    });
    if (id !== undefined) await apiLower('POST', `campaigns/${id}/start`);
    await sleep(9000);
  }
  await sleep(3000);
  const ended = once(service, 'exit');
  service.kill('SIGTERM');
  await ended;
  keep('stopped');
  service = await start();
  log('calls that are cut off');
  if (agent !== undefined) {
    const id = await campaign('running', agent.id ?? agent.agent_id, {
      notify_url: `http://${origin}/fails/notify`,
    });
    if (id !== undefined) await apiLower('POST', `campaigns/${id}/start`);
    await campaign('later', agent.id ?? agent.agent_id, {});
  }
  const cut = [phone(ada, '1005', 40), phone(bob, '1003', 40), phone(ada, '1004', 40)];
  await sleep(12000);
  const killed = once(service, 'exit');
  service.kill('SIGKILL');
  await killed;
  for (const each of ours) each.kill('SIGKILL');
  await Promise.all(cut);
  keep('killed');
} finally {
  for (const each of ours) if (each.exitCode === null) each.kill('SIGKILL');
  endCarrier();
  web.closeAllConnections();
  web.close();
  rmSync(data, { recursive: true, force: true });
}
process.exit(0);
