/** `npm run cluster`: three nodes to play with, until Ctrl-C. */
import { once } from 'node:events';
import { Fleet } from './fleet.ts';

const fleet = await Fleet.start(3);
const { authId, authToken } = fleet.node(0).demo;
const account = `/api/v1/Account/${authId}`;
const as = `-H 'X-Auth-ID: ${authId}' -H 'X-Auth-Token: ${authToken}'`;
const lines = fleet.nodes.flatMap(({ service, place }, at) => [
  `  n${at + 1}   ${service.baseUrl}   SIP 127.0.0.1:${service.sipPort}   process ${service.program.child.pid}   ${place.dataDir}`,
]);
const [first, second] = [fleet.node(0), fleet.node(1)];
process.stdout.write(`Three nodes of one service, on one PostgreSQL and one Redis:

${lines.join('\n')}

  A call on n1:            CARILLON_DATA_DIR=${first.dataDir} npm run call -- --seconds 60
  What n2 sees of it:      curl ${as} '${second.baseUrl}${account}/Call/?status=live'
  Hung up by n2:           curl -X DELETE ${as} '${second.baseUrl}${account}/Call/<uuid>/'
  n1 is killed:            kill -9 ${first.program.child.pid}   (within ten seconds another node bills its calls)
  Its record, from n2:     curl ${as} '${second.baseUrl}${account}/cdr'
  Redis:                   redis-cli -u ${fleet.redis.url} keys 'carillon:*'
  PostgreSQL:              psql '${fleet.url}' -c 'table node'

Ctrl-C ends all of it.
`);
await Promise.race([once(process, 'SIGINT'), once(process, 'SIGTERM')]);
await fleet.stop();
process.exit(0);
