/**
 * Stand-in for n8n: imports a workflow file, serves its webhook and executes its nodes. It knows the node types and
 * operations that the example uses, and fails for any other.
 */
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

type Item = Readonly<Record<string, unknown>>;

interface Condition {
  readonly leftValue: string;
  readonly rightValue: string;
  readonly operator: { readonly type: string; readonly operation: string };
}

interface Conditions {
  readonly conditions: readonly Condition[];
  readonly combinator: string;
}

interface WorkflowNode {
  readonly name: string;
  readonly type: string;
  readonly parameters: Item;
}

export interface Workflow {
  readonly nodes: readonly WorkflowNode[];
  readonly connections: Readonly<
    Record<string, { readonly main: readonly (readonly { readonly node: string }[])[] }>
  >;
}

export class N8n {
  /** Names of executed nodes, in order. */
  readonly executed: string[] = [];
  readonly #workflow: Workflow;
  readonly #environment: Readonly<Record<string, string>>;
  readonly #server: Server;

  private constructor(
    workflow: Workflow,
    environment: Readonly<Record<string, string>>,
    server: Server,
  ) {
    this.#workflow = workflow;
    this.#environment = environment;
    this.#server = server;
    server.on('request', (request, response) => {
      this.#trigger(request, response).catch((error: unknown) => {
        console.log(error);
        response.writeHead(500).end();
      });
    });
  }

  static async start(
    workflow: Workflow,
    environment: Readonly<Record<string, string>>,
  ): Promise<N8n> {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new N8n(workflow, environment, server);
  }

  /** Production URL of the workflow's webhook. */
  get url(): string {
    const { port } = this.#server.address() as AddressInfo;
    return `http://127.0.0.1:${port}/webhook/${this.#webhook().parameters['path']}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #webhook(): WorkflowNode {
    const found = this.#workflow.nodes.find(({ type }) => type === 'n8n-nodes-base.webhook');
    if (found === undefined) throw new Error('the workflow has no webhook');
    return found;
  }

  async #trigger(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = '';
    for await (const part of request.setEncoding('utf8')) text += part;
    const webhook = this.#webhook();
    if (request.method !== webhook.parameters['httpMethod']) {
      response.writeHead(404).end();
      return;
    }
    const item = {
      headers: request.headers,
      params: {},
      query: {},
      body: Object.fromEntries(new URLSearchParams(text)),
      webhookUrl: this.url,
    };
    await this.#follow(webhook, 0, item, response);
  }

  async #follow(
    from: WorkflowNode,
    output: number,
    item: Item,
    response: ServerResponse,
  ): Promise<void> {
    for (const { node } of this.#workflow.connections[from.name]?.main[output] ?? []) {
      const next = this.#workflow.nodes.find(({ name }) => name === node);
      if (next === undefined) throw new Error(`no node ${node}`);
      await this.#execute(next, item, response);
    }
  }

  async #execute(node: WorkflowNode, item: Item, response: ServerResponse): Promise<void> {
    this.executed.push(node.name);
    const { parameters } = node;
    const value = (name: string): string => this.#value(parameters[name], item);
    switch (node.type) {
      case 'n8n-nodes-base.crypto': {
        if (value('action') !== 'hmac') throw new Error('only hmac');
        const hmac = createHmac(value('type'), value('secret')).update(value('value'));
        const signed = { [value('dataPropertyName')]: hmac.digest(value('encoding') as 'base64') };
        return this.#follow(node, 0, { ...item, ...signed }, response);
      }
      case 'n8n-nodes-base.if': {
        const holds = this.#holds(parameters['conditions'] as Conditions, item);
        return this.#follow(node, holds ? 0 : 1, item, response);
      }
      case 'n8n-nodes-base.switch': {
        const { values } = parameters['rules'] as {
          readonly values: readonly { readonly conditions: Conditions }[];
        };
        const place = values.findIndex(({ conditions }) => this.#holds(conditions, item));
        return place < 0 ? undefined : this.#follow(node, place, item, response);
      }
      case 'n8n-nodes-base.httpRequest': {
        const { method } = parameters as { readonly method: string };
        const headers = { 'content-type': 'application/json' };
        const answer = await fetch(value('url'), { method, headers, body: value('jsonBody') });
        return this.#follow(node, 0, { data: await answer.text() }, response);
      }
      case 'n8n-nodes-base.respondToWebhook':
        this.#respond(node, item, response);
        return this.#follow(node, 0, item, response);
      default:
        throw new Error(`unknown node type ${node.type}`);
    }
  }

  #respond({ parameters }: WorkflowNode, item: Item, response: ServerResponse): void {
    const { responseCode = 200, responseHeaders } = parameters['options'] as {
      readonly responseCode?: number;
      readonly responseHeaders?: {
        readonly entries: readonly { readonly name: string; readonly value: string }[];
      };
    };
    const entries = responseHeaders?.entries ?? [];
    response.writeHead(
      responseCode,
      Object.fromEntries(entries.map(({ name, value }) => [name, value])),
    );
    const hasText = parameters['respondWith'] === 'text';
    response.end(hasText ? this.#value(parameters['responseBody'], item) : '');
  }

  #holds({ conditions, combinator }: Conditions, item: Item): boolean {
    if (combinator !== 'and') throw new Error(`unknown combinator ${combinator}`);
    return conditions.every(({ leftValue, rightValue, operator }) => {
      if (operator.operation !== 'equals')
        throw new Error(`unknown operation ${operator.operation}`);
      return this.#value(leftValue, item) === this.#value(rightValue, item);
    });
  }

  /** Evaluates a parameter. A text that begins with `=` contains expressions in double braces. */
  #value(parameter: unknown, item: Item): string {
    const text = String(parameter);
    if (!text.startsWith('=')) return text;
    return text.slice(1).replaceAll(/\{\{(.*?)\}\}/gs, (_, expression: string) => {
      const evaluate = new Function('$json', '$env', `return (${expression});`) as (
        json: Item,
        environment: Readonly<Record<string, string>>,
      ) => unknown;
      return String(evaluate(item, this.#environment));
    });
  }
}
