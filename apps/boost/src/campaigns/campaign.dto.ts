import { ApiProperty, ApiSchema } from '@nestjs/swagger';
import { CALLER_ID_FORM, CALLER_ID_PATTERN } from '@perkway/domain';
import { IsCallerId, IsText, ReadBack, ResourceTimes } from '@perkway/platform';
import { ArrayMaxSize, ArrayUnique, IsArray } from 'class-validator';

const MAX_NAME = 300;
const MAX_INCENTIVES = 500;

@ReadBack()
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
    description:
      'Existing perks, in display order. A perk deleted later may stay in the list, but is no longer shown',
    example: ['fernway-weekend', 'quillon-third-night'],
  })
  @IsArray()
  @ArrayMaxSize(MAX_INCENTIVES)
  @IsCallerId({ each: true, message: `each value in $property must be a perk id, which ${CALLER_ID_FORM}` })
  @ArrayUnique({ message: 'incentives must not contain a perk twice' })
  incentives: string[];
}

@ApiSchema({ name: 'Campaign' })
export class CampaignResource extends ResourceTimes {
  @ApiProperty({ example: 'ostervale-spring-travel' })
  id: string;
  @ApiProperty({ example: 'ostervale-bank' })
  owner: string;
  @ApiProperty({ example: 'Spring travel for card holders' })
  name: string;
  @ApiProperty({ type: [String], example: ['fernway-weekend', 'quillon-third-night'] })
  incentives: string[];
}

/** A campaign as its own account sees it. */
@ApiSchema({ name: 'OwnCampaign' })
export class OwnCampaignResource {
  @ApiProperty({ example: 'ostervale-spring-travel' })
  id: string;
  @ApiProperty({ example: 'Spring travel for card holders' })
  name: string;
  @ApiProperty({ type: [String], example: ['fernway-weekend', 'quillon-third-night'] })
  incentives: string[];
  @ApiProperty({ format: 'date-time', example: '2026-11-05T09:30:00.000Z' })
  created_at: string;
  @ApiProperty({ format: 'date-time', example: '2026-11-20T16:02:11.000Z' })
  updated_at: string;
}
