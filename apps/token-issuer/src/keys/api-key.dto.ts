import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { ApiKeyResource, NewApiKeyDto } from '@perkway/auth';
import { API_KEY_FORM, API_KEY_PATTERN } from '@perkway/domain';
import { IsOmittable } from '@perkway/platform';
import { Matches } from 'class-validator';

@ApiSchema({ name: 'CreateApiKey' })
export class CreateApiKeyDto extends NewApiKeyDto {
  @ApiProperty({
    type: String,
    pattern: API_KEY_PATTERN,
    description: 'An existing key to import; case does not matter. If omitted, a key is generated',
    example: 'demo-ostervale-bank-user-key-0001',
  })
  @IsOmittable()
  @Matches(new RegExp(API_KEY_PATTERN), {
    message: `$property ${API_KEY_FORM}`,
  })
  key?: string | null;
}

@ApiSchema({ name: 'ApiKeyOfAccount' })
export class KeyOfAccount extends ApiKeyResource {
  @ApiProperty({ description: 'The account of the key', example: 'ostervale-bank' })
  owner: string;
}
