import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import ipaddr from 'ipaddr.js';

const TYPE_A = 1;
const TYPE_AAAA = 28;
const NAME_ERROR = 3;

export interface TestDnsServer {
  /** As `Resolver.setServers` takes it. */
  address: string;
  /** How many questions came for each name. */
  questions: Map<string, number>;
  close(): Promise<void>;
}

/**
 * A DNS server on a free UDP port of this machine.
 *
 * @param addressesOf a name, on its n-th question of one type, from 0; undefined leaves the question unanswered
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
    const answers = addresses
      .map((address) => Buffer.from(ipaddr.parse(address).toByteArray()))
      .filter(({ length }) => length === (type === TYPE_A ? 4 : type === TYPE_AAAA ? 16 : 0));
    const head = Buffer.from(query.subarray(0, 12));
    head.writeUInt16BE(0x8180 | (addresses.length === 0 ? NAME_ERROR : 0), 2);
    head.writeUInt16BE(answers.length, 6);
    head.writeUInt16BE(0, 8);
    head.writeUInt16BE(0, 10);
    const records = answers.map((address) => {
      // Points to the name of the question; class IN, TTL 0.
      const record = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 0, 0, address.length]);
      return Buffer.concat([record, address]);
    });
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

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let at = 12;
  while (query[at]! > 0) {
    labels.push(query.toString('latin1', at + 1, at + 1 + query[at]!));
    at += 1 + query[at]!;
  }
  return { name: labels.join('.').toLowerCase(), type: query.readUInt16BE(at + 1), end: at + 5 };
}
