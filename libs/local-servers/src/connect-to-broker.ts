import { parseBrokerUrl } from '@perkway/domain';
import { connect, type NatsConnection } from '@nats-io/transport-node';

const TIMEOUT_MS = 5_000;

/** As whoever the URL names, trusting NATS_CA_FILE where it is set. For tools; apps connect through the platform. */
export function connectToBroker(natsUrl: string): Promise<NatsConnection> {
  const { servers, user, password, token, tls } = parseBrokerUrl(natsUrl);
  const caFile = process.env.NATS_CA_FILE;
  return connect({
    servers,
    user,
    pass: password,
    token,
    ...(tls || caFile ? { tls: { caFile } } : {}),
    timeout: TIMEOUT_MS,
  });
}
