import { createLogger, NestLogger, redact } from './logger.js';

const SECRET = 's3cr3t-0123456789abcdef';

describe('redact', () => {
  it.each([
    `GET /perk-collections?api_key=${SECRET}&lang=fr`,
    `GET /x?lang=fr&API_KEY=${SECRET}`,
    `next=%2Fx%3Fapi_key%3D${SECRET}`,
    `{"x-api-key":"${SECRET}"}`,
    `{"X-API-Key": "${SECRET}", "a": 1}`,
    `{'apiKey': '${SECRET}'}`,
    `{"authorization":"Bearer ${SECRET}"}`,
    `{"authorization":"Basic ${SECRET}"}`,
    `{"Authorization":"${SECRET}"}`,
    `Authorization: ${SECRET}`,
    `a header Bearer ${SECRET} in a text`,
    `{"token":"${SECRET}"}`,
    `{"linkToken":"${SECRET}"}`,
    `{"msg":"failed with {\\"token\\":\\"${SECRET}\\"}"}`,
    `{"msg":"twice {\\\\\\"token\\\\\\": \\\\\\"${SECRET}\\\\\\"}"}`,
    `{"reward_link":"https://rewards.test/#${SECRET}"}`,
    `https://rewards.test/#${SECRET}`,
    `GET /%23${SECRET}`,
    `GET /c/${SECRET}?utm_source=x`,
    `{"cardCode":"${SECRET}","pin":"${SECRET}"}`,
    `postgres://links:${SECRET}@127.0.0.1:5432/perkway`,
    `nats://perks:${SECRET}@nats:4222`,
    `{"message":"invalid input syntax for type uuid: \\"${SECRET}\\""}`,
  ])('hides the secret in %s', (text) => {
    const clean = redact(text);
    expect(clean).not.toContain(SECRET);
    expect(clean).toContain('[redacted]');
  });

  it('hides tokens and generated keys anywhere', () => {
    const jwt = 'eyJhbGciOiJFUzI1NiJ9.eyJzdWIiOiJhIn0.c2lnbmF0dXJl';
    const key = `pk_${'abcd2345'.repeat(4)}`;
    expect(redact(`odd ${jwt} and ${key} and ${key.toUpperCase()}.`)).toBe(
      'odd [redacted] and [redacted] and [redacted].',
    );
  });

  it('keeps what is not secret', () => {
    for (const text of [
      '{"level":"info","app":"token-issuer","route":"/cube/token","status":401,"code":"API_KEY_INVALID"}',
      '{"requestId":"8d1c3c2e-5d5b-4f9e-9a53-0f6d3d1c2b7a","account":"ostervale-bank","ms":3}',
      '{"msg":"cannot connect to nats://127.0.0.1:4222 or postgres://127.0.0.1/perkway"}',
      '{"keyId":"0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11"}',
    ])
      expect(redact(text)).toBe(text);
  });
});

describe('the logger', () => {
  const logged = (write: (logger: ReturnType<typeof createLogger>) => void, level = 'debug') => {
    const lines: string[] = [];
    write(createLogger('probe', level, { write: (line) => void lines.push(line) }));
    return lines;
  };
  const parsed = (line: string | undefined) => JSON.parse(line!) as Record<string, unknown>;

  it('writes one line of JSON with time, level and app', () => {
    const [line, ...more] = logged((logger) => logger.warn({ account: 'a' }, 'a text\nof two lines'));
    expect(more).toEqual([]);
    expect(line).toMatch(/^[^\n]+\n$/);
    expect(parsed(line)).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      app: 'probe',
      account: 'a',
      msg: 'a text\nof two lines',
    });
  });

  it('redacts members, messages and errors, and the line stays JSON', () => {
    const lines = logged((logger) => {
      logger.info({ headers: { authorization: `Bearer ${SECRET}`, 'x-api-key': SECRET } }, 'x');
      logger.info(`called with ?api_key=${SECRET}`);
      logger.error({ err: new Error(`no reply to {"token":"${SECRET}"}`) }, 'x');
    });
    for (const line of lines) {
      expect(line).not.toContain(SECRET);
      expect(parsed(line)).toHaveProperty('msg');
    }
  });

  it('logs the useful parts of an error, but not the values that drivers attach', () => {
    const err = Object.assign(new TypeError('it failed'), {
      code: '23505',
      detail: `Key (code)=(${SECRET}) already exists.`,
      parameters: [SECRET],
    });
    const [line] = logged((logger) => logger.error({ err }, 'x'));
    expect(parsed(line).err).toEqual({
      type: 'TypeError',
      message: 'it failed',
      code: '23505',
      stack: expect.stringContaining('it failed'),
    });
    expect(line).not.toContain(SECRET);
    expect(parsed(logged((logger) => logger.error({ err: 'a text' }, 'x'))[0]).err).toEqual({
      message: 'a text',
    });
  });

  it("logs Nest's messages with their context, and its startup messages at debug", () => {
    const lines = logged((logger) => {
      const nest = new NestLogger(logger);
      nest.log('Mapped {/x, GET} route', 'RouterExplorer');
      nest.error(new Error('broken'), 'a stack', 'Injector');
    });
    expect(lines.map(parsed)).toEqual([
      expect.objectContaining({ level: 'debug', msg: 'Mapped {/x, GET} route', context: 'RouterExplorer' }),
      expect.objectContaining({
        level: 'error',
        msg: 'broken',
        context: 'Injector',
        err: expect.objectContaining({ message: 'broken' }),
      }),
    ]);
    expect(logged((logger) => new NestLogger(logger).log('x'), 'info')).toEqual([]);
  });
});
