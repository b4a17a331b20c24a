import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { IsText } from '@perkway/platform';

const MAX_KEY = 200;

@ApiSchema({ name: 'SignIn' })
export class SignInDto {
  @ApiProperty({
    description: 'An API key of role USER or ADMIN, without scopes',
    example: 'demo-ostervale-bank-user-key-0001',
  })
  @IsText(1, MAX_KEY)
  apiKey: string;
}

@ApiSchema({ name: 'ViewAccount' })
export class ViewAccountDto {
  @ApiProperty({ description: 'The account to view', example: 'ostervale-bank' })
  @IsText(1, 100)
  accountId: string;
}

@ApiSchema({ name: 'Hosts' })
export class HostsDto {
  @ApiProperty({ example: 'https://perks.perkway.example' })
  perks: string;
  @ApiProperty({ example: 'https://links.perkway.example' })
  links: string;
  @ApiProperty({ example: 'https://boost.perkway.example' })
  boost: string;
  @ApiProperty({ example: 'https://gift.perkway.example' })
  gift: string;
  @ApiProperty({ example: 'https://rewards.perkway.example' })
  rewards: string;
  @ApiProperty({ example: 'https://token.perkway.example' })
  token: string;
  @ApiProperty({ example: 'https://query.perkway.example' })
  query: string;
  @ApiProperty({ example: 'https://events.perkway.example' })
  events: string;
  @ApiProperty({ example: 'https://console.perkway.example' })
  console: string;
}

@ApiSchema({ name: 'OpenIdProvider' })
export class OpenIdProviderDto {
  @ApiProperty({ description: 'Name of the provider for the button', example: 'Ostervale accounts' })
  label: string;
  @ApiProperty({ description: 'Target of the button', example: '/api/oidc/start' })
  url: string;
}

const ApiProvider = () =>
  ApiProperty({ type: OpenIdProviderDto, nullable: true, description: 'Null if no provider is configured' });

@ApiSchema({ name: 'SignInOptions' })
export class SignInOptionsDto {
  @ApiProvider()
  oidc: OpenIdProviderDto | null;
}

@ApiSchema({ name: 'Session' })
export class SessionDto {
  @ApiProperty({ example: 'ostervale-bank' })
  accountId: string;
  @ApiProperty({ example: 'Ostervale Bank' })
  accountName: string;
  @ApiProperty({ enum: ['USER', 'ADMIN'], example: 'USER' })
  role: string;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The key used to sign in; null for a person of the OpenID provider',
    example: '0b6f0d0c-6d3e-4c55-9d5f-2f4b8d5b8f11',
  })
  keyId: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: 'The e-mail address of the person; null for a key',
    example: null,
  })
  person: string | null;
  @ApiProperty({
    type: String,
    nullable: true,
    description: "The operator's account while an operator views this account",
    example: null,
  })
  viewedBy: string | null;
  @ApiProperty({
    format: 'date-time',
    description: 'Latest possible end of the session',
    example: '2026-11-20T21:02:00.000Z',
  })
  expiresAt: string;
  @ApiProperty({ type: HostsDto, description: 'Public URLs of the fleet' })
  hosts: HostsDto;
  @ApiProperty({ type: SignInOptionsDto })
  signIn: SignInOptionsDto;
}
