import { startDnsServer, type TestDnsServer } from '../../test/dns-server.js';
import { NetworkPolicy } from './network-policy.js';
import { dnsResolver, type Resolve } from './resolver.js';
import { Sender } from './sender.js';
import { checkWebhookUrl, ForbiddenUrlError } from './webhook-url.js';

/** Addresses, behind the names of a CNAME chain. */
const NAMES: Record<string, string[]> = {
  'public.example': ['93.184.216.34', '2606:2800:220:1:248:1893:25c8:1946'],
  'private.example': ['10.0.0.5'],
  'private-v6.example': ['fd12:3456::1'],
  'mixed.example': ['93.184.216.34', '127.0.0.1'],
  'mixed-families.example': ['93.184.216.34', '::1'],
  'mapped.example': ['::ffff:169.254.169.254'],
  'nat64.example': ['64:ff9b::a00:1'],
  'unspecified.example': ['0.0.0.0'],
  'alias.example': ['cdn.example', 'db.internal', '10.0.0.5'],
  '127.0.0.1.nip.io': ['127.0.0.1'],
  'xn--ls8h.example': ['192.168.1.1'],
};

let dns: TestDnsServer;
let resolve: Resolve;
beforeAll(async () => {
  dns = await startDnsServer((name) => NAMES[name] ?? []);
  resolve = dnsResolver([dns.address]);
});
afterAll(() => dns.close());

const check = (url: string, ...allowed: string[]) =>
  checkWebhookUrl(url, new NetworkPolicy(allowed), resolve);
/** Sends to a URL that was stored before its name led elsewhere, or before a check was added. */
async function deliver(url: string, ...allowed: string[]) {
  const sender = new Sender({ policy: new NetworkPolicy(allowed), resolve });
  try {
    return await sender.post(url, {}, '{}');
  } finally {
    sender.close();
  }
}

describe('the URL of a webhook', () => {
  it.each([
    'https://public.example/hook',
    'https://public.example:8443/hook?a=b#c',
    'HTTPS://Public.Example./hook',
    'https://93.184.216.34/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
    'https://[::ffff:93.184.216.34]/',
    'https://[64:ff9b::93.184.216.34]/',
    'https://not-yet-there.example/',
  ])('may be %s', async (url) => {
    await expect(check(url)).resolves.toBeUndefined();
  });

  it.each([
    // Loopback, in every notation that a URL parser or a C library reads as 127.0.0.1.
    'https://127.0.0.1/',
    'https://127.255.255.254/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://0x7f.0.0.1/',
    'https://0177.0.0.1/',
    'https://017700000001/',
    'https://0x7F.0x0.0x0.0x1/',
    'https://127.0.0.1./',
    'https://127.0.0.1../',
    'https://127.0.0.1:443/',
    'https://127。0。0。1/',
    'https://127．0｡0.1/',
    'https://１２７.0.0.1/',
    'https://ｌｏｃａｌｈｏｓｔ/',
    'https://①②⑦.0.0.1/',
    'https://%31%32%37.0.0.1/',
    'https://localhost/',
    'https://LOCALHOST./',
    'https://a.localhost/',
    'https://[::1]/',
    'https://[0:0:0:0:0:0:0:1]/',
    'https://0/',
    'https://0.0.0.0/',
    'https://[::]/',
    // Private, shared and link-local networks.
    'https://10.1.2.3/',
    'https://012.1.2.3/',
    'https://0xA010203/',
    'https://10.66051/',
    'https://0300.0250.1.1/',
    'https://3232235777/',
    'https://172.16.0.1/',
    'https://172.31.255.255/',
    'https://192.168.1.1/',
    'https://100.64.0.1/',
    'https://169.254.1.1/',
    'https://[fe80::1]/',
    'https://[fe80::1%25eth0]/',
    'https://[fe80::1%eth0]/',
    'https://[fc00::1]/',
    'https://[fd12:3456::1]/',
    'https://[fec0::1]/',
    // Reserved, documentation, benchmark, multicast and broadcast.
    'https://192.0.0.8/',
    'https://192.0.2.1/',
    'https://192.88.99.1/',
    'https://198.18.0.1/',
    'https://198.51.100.1/',
    'https://203.0.113.1/',
    'https://224.0.0.1/',
    'https://240.0.0.1/',
    'https://255.255.255.255/',
    'https://[2001:db8::1]/',
    'https://[3fff::1]/',
    'https://[100::1]/',
    'https://[ff02::1]/',
    'https://[5f00::1]/',
    'https://[4000::1]/',
    // IPv4 inside IPv6.
    'https://[::ffff:127.0.0.1]/',
    'https://[::ffff:7f00:1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://[::127.0.0.1]/',
    'https://[::93.184.216.34]/',
    'https://[::ffff:0:127.0.0.1]/',
    'https://[64:ff9b::127.0.0.1]/',
    'https://[64:ff9b::a00:1]/',
    'https://[64:ff9b:1::7f00:1]/',
    'https://[2002:7f00:1::]/',
    'https://[2002:a00:1::1]/',
    'https://[2001:0:4136:e378:8000:63bf:80ff:fffe]/',
    'https://[2001::1]/',
    // Metadata services.
    'https://169.254.169.254/latest/meta-data/',
    'https://[::ffff:169.254.169.254]/',
    'https://[fd00:ec2::254]/',
    'https://100.100.100.200/',
    'https://192.0.0.192/',
    'https://168.63.129.16/',
    'https://metadata.google.internal/',
    'https://METADATA.google.internal./',
    'https://metadata/',
    'https://metadata.goog/',
    'https://instance-data/',
    // Names that lead to private addresses, or that only a private network knows.
    'https://private.example/',
    'https://private-v6.example/',
    'https://mixed.example/',
    'https://mixed-families.example/',
    'https://mapped.example/',
    'https://nat64.example/',
    'https://unspecified.example/',
    'https://alias.example/',
    'https://ALIAS.Example.:8443/',
    'https://127.0.0.1.nip.io/',
    'https://💩.example/',
    'https://printer/',
    'https://vault.internal/',
    'https://nas.local/',
    // Other than a plain https URL.
    'http://public.example/',
    'http://93.184.216.34/',
    'ftp://public.example/',
    'file:///etc/passwd',
    'gopher://public.example/',
    'https://user@public.example/',
    'https://user:password@public.example/',
    'https://@public.example/',
    'https://public.example@127.0.0.1/',
    'https://public.example\\@127.0.0.1/',
    'https://public.example/\r\nhost: x',
    ' https://public.example/',
    '//public.example/',
    'public.example',
    '',
    'https://',
    'https://public.example:99999/',
    `https://public.example/${'a'.repeat(2_048)}`,
  ])('may not be %s, when it is stored and when it is delivered to', async (url) => {
    await expect(check(url)).rejects.toThrow(ForbiddenUrlError);
    const result = await deliver(url);
    expect(result).toMatchObject({ isSuccess: false, status: null });
    // A name without an address leads nowhere.
    expect(result.error).toMatch(/^The (?:URL must|URL has|host name does not resolve)/);
  });

  it.each([
    ['http://127.0.0.1:3000/hook', '127.0.0.0/8'],
    ['https://127.0.0.1:3000/hook', '127.0.0.0/8'],
    ['http://[::ffff:127.0.0.1]:3000/hook', '127.0.0.0/8'],
    ['http://localhost:3000/hook', '127.0.0.0/8', '::1/128'],
    ['http://10.1.2.3/', '10.1.2.3'],
    ['http://[fd12:3456::1]/', 'fd12::/16'],
    ['https://private.example/', '10.0.0.0/8'],
    ['http://93.184.216.34/', '93.184.216.34/32'],
    ['http://public.example/', '93.184.216.34', '2606:2800::/32'],
  ])('may be %s if %s is allowed', async (url, ...networks) => {
    await expect(check(url, ...networks)).resolves.toBeUndefined();
  });

  it.each([
    ['http://10.0.0.1/', '127.0.0.0/8'],
    ['http://localhost/', '127.0.0.0/8'],
    ['https://mixed.example/', '10.0.0.0/8'],
    ['http://mixed.example/', '127.0.0.0/8'],
    ['http://not-yet-there.example/', '127.0.0.0/8'],
    ['https://metadata.google.internal/', '0.0.0.0/0'],
    ['http://user@127.0.0.1/', '127.0.0.0/8'],
  ])('may not be %s if only %s is allowed', async (url, ...networks) => {
    await expect(check(url, ...networks)).rejects.toThrow(ForbiddenUrlError);
  });
});
