import { ApiProperty, ApiSchema } from '@nestjs/swagger';

@ApiSchema({ name: 'ServerTime' })
class ServerTime {
  @ApiProperty({ description: 'ISO 8601, UTC', format: 'date-time', example: '2026-11-05T09:30:00.123Z' })
  timestamp: string;

  @ApiProperty({ description: 'Epoch seconds', type: 'integer', example: 1793871000 })
  epoch_timestamp: number;
}

/** The "Analytics token response" of specification section 2. */
@ApiSchema({ name: 'CubeToken' })
export class CubeToken {
  @ApiProperty({
    description: 'Send it raw in the `Authorization` header to the query host, without `Bearer`',
    example: 'eyJhbGciOiJFUzI1NiIsImtpZCI6ImsxIn0.eyJzdWIiOiJvc3RlcnZhbGUtYmFuayJ9.c2lnbmF0dXJl',
  })
  token: string;

  @ApiProperty({ description: 'Expiry in epoch milliseconds', type: 'integer', example: 1793871300000 })
  expiration: number;

  @ApiProperty({ description: 'The server time at which the token was issued', type: ServerTime })
  serverTime: ServerTime;
}

@ApiSchema({ name: 'JsonWebKey' })
class JsonWebKeyDto {
  @ApiProperty({ example: 'k1' })
  kid: string;
  @ApiProperty({ example: 'EC' })
  kty: string;
  @ApiProperty({ example: 'P-256' })
  crv: string;
  @ApiProperty({ example: 'MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4' })
  x: string;
  @ApiProperty({ example: '4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM' })
  y: string;
  @ApiProperty({ example: 'ES256' })
  alg: string;
  @ApiProperty({ example: 'sig' })
  use: string;
}

/** RFC 7517. */
@ApiSchema({ name: 'JsonWebKeySet' })
export class JsonWebKeySet {
  @ApiProperty({ type: [JsonWebKeyDto] })
  keys: JsonWebKeyDto[];
}
