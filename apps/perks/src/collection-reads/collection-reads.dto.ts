import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { LocationResource, MediaResource, PartnerDto } from '../perks/perk.dto.js';

/** The responses of the reads (specification section 2). The templates write them; these classes only document them. */
@ApiSchema({ name: 'Category' })
export class CategoryResponse {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ description: 'Display label in the language of the response. Do not use it as a key.' })
  name: string;
  @ApiProperty({ description: 'Stable text id that survives a rename' })
  slug: string;
}

@ApiSchema({ name: 'Relations' })
export class RelationsResponse {
  @ApiProperty()
  partner: PartnerDto;
  @ApiProperty({ type: [CategoryResponse], description: 'Sorted by id' })
  categories: CategoryResponse[];
  @ApiProperty()
  media: MediaResource;
  @ApiProperty({
    type: [LocationResource],
    description: 'Where the perk can be redeemed; everywhere if empty',
  })
  locations: LocationResource[];
}

@ApiSchema({ name: 'Perk' })
export class PerkResponse {
  @ApiProperty()
  id: string;
  @ApiProperty()
  title: string;
  @ApiProperty()
  description: string;
  @ApiProperty({ description: 'Short value line' })
  callout: string;
  @ApiProperty({ description: 'How to claim' })
  redemption_note: string;
  @ApiProperty({ description: 'Terms, eligibility, expiry conditions' })
  details: string;
  @ApiProperty({
    format: 'uri',
    description:
      'Records the click and redirects to the offer. Use it verbatim. Fresh on each fetch; earlier ones remain valid.',
  })
  click_url: string;
  @ApiProperty()
  offer_slug: string;
  @ApiProperty({ type: 'integer', description: 'The lowest rank shows first' })
  rank: number;
  @ApiPropertyOptional({ description: 'The shared code; only on static-coupon perks' })
  coupon?: string;
  @ApiPropertyOptional({ description: 'True on single-use-code perks, otherwise absent' })
  is_coupon_perk?: boolean;
  @ApiProperty({ description: 'Free-text keywords for on-page search' })
  metadata: string;
  @ApiProperty()
  relations: RelationsResponse;
}

@ApiSchema({ name: 'Group' })
export class GroupResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;
  @ApiProperty({ description: 'In the language of the response' })
  name: string;
  @ApiProperty({ type: 'integer' })
  rank: number;
  @ApiProperty({ type: [PerkResponse], description: 'Sorted by rank within the group' })
  perks: PerkResponse[];
}

@ApiSchema({ name: 'PerkCollection' })
export class PerkCollectionResponse {
  @ApiProperty()
  id: string;
  @ApiProperty({ description: 'The owning account' })
  owner: string;
  @ApiProperty({
    type: [GroupResponse],
    description: 'Sorted by rank; a group that a filter empties stays in the list',
  })
  groups: GroupResponse[];
  @ApiProperty({
    type: [PerkResponse],
    description: 'Every perk once with its lowest rank of all groups, sorted by rank',
  })
  perks: PerkResponse[];
}
