import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CALLER_ID_FORM, CALLER_ID_PATTERN } from '@perkway/domain';
import { IsCallerId, IsText } from '@perkway/platform';
import { ArrayMaxSize, ArrayUnique, IsArray } from 'class-validator';

const MAX_NAME = 300;
const MAX_INCENTIVES = 500;

@ApiSchema({ name: 'PutCampaign' })
export class PutCampaignDto {
  @ApiProperty({ description: 'An existing account', example: 'ostervale-bank' })
  @IsCallerId()
  owner: string;

  @ApiProperty({ example: 'Spring travel for card holders' })
  @IsText(1, MAX_NAME)
  name: string;

  @ApiProperty({
    type: 'array',
    items: { type: 'string', pattern: CALLER_ID_PATTERN },
    maxItems: MAX_INCENTIVES,
    uniqueItems: true,
    description: 'Existing perks, in the order in which they are shown',
    example: ['fernway-weekend', 'quillon-third-night'],
  })
  @IsArray()
  @ArrayMaxSize(MAX_INCENTIVES)
  @IsCallerId({ each: true, message: `$property must be perk ids, each of which ${CALLER_ID_FORM}` })
  @ArrayUnique({ message: 'incentives must not name a perk twice' })
  incentives: string[];
}

@ApiSchema({ name: 'Campaign' })
export class CampaignResource {
  @ApiProperty({ example: 'ostervale-spring-travel' })
  id: string;
  @ApiProperty({ example: 'ostervale-bank' })
  owner: string;
  @ApiProperty({ example: 'Spring travel for card holders' })
  name: string;
  @ApiProperty({ type: [String], example: ['fernway-weekend', 'quillon-third-night'] })
  incentives: string[];
}
