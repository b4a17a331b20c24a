import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';

const TYPE_A = 1;
const TYPE_CNAME = 5;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;

export interface TestDnsServer {
  /** As `Resolver.setServers` takes it. */
  address: string;
  /** Number of questions by name and type, such as `shop.example 1`. */
  questions: Map<string, number>;
  close(): Promise<void>;
}

/**
 * Starts a DNS server on a free UDP port of this machine.
 *
 * @param addressesOf returns the names of a CNAME chain and the addresses at its end; an empty array for an unknown
 *   name, undefined for no response. `question` numbers the questions of one type for a name, from 0
 */
export async function startDnsServer(
  addressesOf: (name: string, question: number) => string[] | undefined,
): Promise<TestDnsServer> {
  const socket = createSocket('udp4');
  const questions = new Map<string, number>();
  socket.on('message', (query, from) => {
    const { name, type, end } = readQuestion(query);
    const key = `${name} ${type}`;
    const count = questions.get(key) ?? 0;
    questions.set(key, count + 1);
    const addresses = addressesOf(name, count);
    if (!addresses) return;
    const records: Buffer[] = [];
    let owner: Uint8Array = query.subarray(12, end - 4);
    for (const alias of addresses.filter((each) => !ipaddr.isValid(each))) {
      const target = encodeName(alias);
      records.push(recordOf(owner, TYPE_CNAME, target));
      owner = target;
    }
    for (const address of addresses.filter(ipaddr.isValid)) {
      const bytes = Buffer.from(ipaddr.parse(address).toByteArray());
      if (bytes.length === (type === TYPE_A ? 4 : type === TYPE_AAAA ? 16 : 0))
        records.push(recordOf(owner, type, bytes));
    }
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (addresses.length === 0 ? NAME_ERROR : 0), 2);
    head.writeUInt16BE(records.length, 6);
    head.writeUInt16BE(0, 8);
    head.writeUInt16BE(0, 10);
    socket.send(Buffer.concat([head, query.subarray(12, end), ...records]), from.port, from.address);
  });
  socket.bind(0, '127.0.0.1');
  await once(socket, 'listening');
  return {
    address: `127.0.0.1:${(socket.address() as AddressInfo).port}`,
    questions,
    close: () => new Promise((done) => socket.close(() => done())),
  };
}

const encodeName = (name: string): Buffer =>
  Buffer.concat([...name.split('.'), ''].map((label) => Buffer.from([label.length, ...Buffer.from(label)])));

/** Class IN, TTL 0. */
const recordOf = (owner: Uint8Array, type: number, data: Buffer): Buffer =>
  Buffer.concat([owner, Buffer.from([0, type, 0, 1, 0, 0, 0, 0, 0, data.length]), data]);

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    at += 1 + query[at]!;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}
