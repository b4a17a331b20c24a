import { generateKeyPairSync, sign } from 'node:crypto';

const der = (tag: number, ...parts: Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  const { length } = body;
  const size =
    length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.from([tag, ...size, ...body]);
};
const bytes = (...values: number[]): Buffer => Buffer.from(values);
const sequence = (...parts: Buffer[]): Buffer => der(0x30, ...parts);
const objectId = (...values: number[]): Buffer => der(0x06, bytes(...values));
const utcTime = (date: Date): Buffer =>
  der(0x17, Buffer.from(`${date.toISOString().slice(2, 19).replace(/[-:T]/g, '')}Z`));
const pem = (what: string, content: Buffer): string =>
  `-----BEGIN ${what}-----\n${content.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END ${what}-----\n`;

const ECDSA_WITH_SHA256 = sequence(objectId(0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x03, 0x02));
const COMMON_NAME = objectId(0x55, 0x04, 0x03);
const ALTERNATIVE_NAMES = objectId(0x55, 0x1d, 0x11);
const DAY_MS = 86_400_000;

/** Makes a self-signed certificate for `host` and its key, both PEM. It also serves as the CA. */
export function selfSignedCertificate(host = 'localhost'): { certificate: string; key: string } {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const name = sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from('test')))));
  const alternatives = sequence(der(0x82, Buffer.from(host)));
  const toBeSigned = sequence(
    der(0xa0, der(0x02, bytes(2))),
    der(0x02, bytes(1)),
    ECDSA_WITH_SHA256,
    name,
    sequence(utcTime(new Date(Date.now() - DAY_MS)), utcTime(new Date(Date.now() + DAY_MS))),
    name,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(sequence(ALTERNATIVE_NAMES, der(0x04, alternatives)))),
  );
  const signature = der(0x03, bytes(0), sign('sha256', toBeSigned, privateKey));
  return {
    certificate: pem('CERTIFICATE', sequence(toBeSigned, ECDSA_WITH_SHA256, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}
