/** A test mail server with the minimum of SMTP (RFC 5321). */
import { createServer, type Server, type Socket } from 'node:net';
import { createInterface } from 'node:readline';

export interface SmtpServer {
  readonly server: Server;
  readonly url: string;
  /** Received lines in order: commands, and the mail between DATA and `.`. */
  readonly seen: readonly string[];
}

/** Starts the server. With `refuse` it answers RCPT with 550. */
export function smtpServer(refuse = false): Promise<SmtpServer> {
  const seen: string[] = [];
  const server = createServer((socket: Socket) => {
    let inData = false;
    socket.write('220 test\r\n');
    socket.on('error', () => undefined);
    createInterface({ input: socket }).on('line', (line) => {
      if (line === '') return;
      seen.push(line);
      if (inData && line !== '.') return;
      inData = line.toUpperCase() === 'DATA';
      const refused = refuse && line.startsWith('RCPT');
      socket.write(refused ? '550 no\r\n' : inData ? '354 go on\r\n' : '250 ok\r\n');
    });
  });
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number };
      resolve({ server, url: `smtp://127.0.0.1:${port}`, seen });
    });
  });
}
