/** The commands that `npm run cluster` prints, ready to paste into a second terminal. */
import type { SipUser } from '../e2e/phone.ts';
import type { EdgePlace, Front } from './edge-fleet.ts';

export interface Stage {
  /** Network namespace of all processes; undefined for the machine's own. */
  readonly inside: string | undefined;
  readonly edge: EdgePlace;
  readonly ports: Front['ports'];
  readonly authorityFile: string;
  /** Nodes of the cluster. The last one is not running yet. */
  readonly nodes: readonly {
    readonly name: string;
    readonly baseUrl: string;
    readonly sip: string;
    readonly dataDir: string;
    readonly pid: number | undefined;
    /** Path of a script that starts the node. */
    readonly start: string;
  }[];
  readonly demo: {
    readonly authId: string;
    readonly authToken: string;
    readonly username: string;
    readonly password: string;
  };
  readonly bob: SipUser;
  /** Path of a SIPp scenario that places a call. */
  readonly scenario: string;
  readonly redis: string;
  readonly postgres: string;
}

export function whatToTry(stage: Stage): string {
  const { edge, ports, nodes, demo, bob, redis, postgres } = stage;
  const enter = stage.inside === undefined ? '' : `ip netns exec ${stage.inside} `;
  const [first, second, third, fourth] = nodes;
  if (!first || !second || !third || !fourth) throw new Error('expected three nodes and one more');
  const curl = (more = ''): string =>
    `${enter}curl -s ${more}-H 'X-Auth-ID: ${demo.authId}' -H 'X-Auth-Token: ${demo.authToken}'`;
  const calls = (at: string): string => `${at}/api/v1/Account/${demo.authId}/Call/`;
  const live = `${curl()} '${calls(second.baseUrl)}?status=live'`;
  const uuid = `$(${live} | grep -oE '[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}' | tail -1)`;
  const rpc = (method: string, params: string): string =>
    `${enter}curl -s http://${edge.inside}:${ports.rpc}/RPC -d '{"jsonrpc":"2.0","id":1,"method":"${method}","params":[${params}]}'`;
  const admin = (node: typeof first): string =>
    `-H "Authorization: Bearer $(cat ${node.dataDir}/keys/admin.token)"`;
  const sipp = `${enter}sipp ${edge.outside}:${ports.sip} -sf ${stage.scenario} -s 1000 -au ${demo.username} -ap '${demo.password}' -key username ${demo.username} -i 127.0.0.1 -m 5 -r 5 -d 20000 -nostdin`;
  const call = (user: SipUser, more: string): string =>
    `${enter}npm run call -- --server ${edge.outside}:${ports.sip} --user ${user.username} --password '${user.password}' ${more}`;
  const running = nodes.slice(0, -1);
  const table = running.map(
    ({ name, baseUrl, sip, pid, dataDir }) =>
      `  ${name}   ${baseUrl}   SIP ${sip}   process ${pid}   ${dataDir}`,
  );
  const { sip, tls, ws, wss } = ports;
  return `
Three nodes of one service, on one PostgreSQL and one Redis, behind one edge${stage.inside === undefined ? '' : ` (network namespace ${stage.inside})`}:

${table.join('\n')}
  edge   ${edge.outside}   UDP and TCP ${sip}, TLS ${tls}, WS ${ws}, WSS ${wss}   certificate of ${stage.authorityFile}

Paste these into a second terminal, in this folder:

  # A call through the edge to the demo, and five by SIPp
  ${call(demo, '--to 1000 --seconds 60')}
  ${sipp}

  # What n2 sees of all calls, and one of them hung up by n3, wherever it is
  ${live}
  ${curl('-X DELETE ')} "${calls(third.baseUrl)}${uuid}/"

  # n1 is killed: new calls go elsewhere, and within ten seconds another node bills its calls
  kill -9 ${first.pid}
  ${curl()} ${second.baseUrl}/api/v1/Account/${demo.authId}/cdr
  ${rpc('dispatcher.list', '')}

  # and starts again
  ${enter}${first.start} &

  # n2 drains: it gets no new calls and stops after its last call. Then it starts again
  ${enter}curl -s -X POST ${admin(second)} ${second.baseUrl}/admin/v1/drain; kill ${second.pid}
  ${enter}${second.start} &

  # A fourth node, which then joins the edge
  ${enter}${fourth.start} &
  ${rpc('dispatcher.add', `1,"sip:${fourth.sip};transport=udp",0,0,"duid=n4"`)}

  # A second user, for a phone of yours
  ${call(bob, '--to 1000 --seconds 10')}

  # The certificate of TLS, Redis and PostgreSQL
  echo | ${enter}openssl s_client -connect ${edge.outside}:${tls} -CAfile ${stage.authorityFile} -brief
  ${enter}redis-cli -u ${redis} keys 'carillon:*'
  ${enter}psql '${postgres}' -c 'table node'

Ctrl-C ends all of it.
`;
}
