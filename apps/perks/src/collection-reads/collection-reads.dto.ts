import { ApiProperty, ApiPropertyOptional, ApiSchema } from '@nestjs/swagger';
import { LocationResource, MediaResource, PartnerDto } from '../perks/perk.dto.js';

/** What the reads answer (specification section 2). Written by the templates; these classes describe it. */
@ApiSchema({ name: 'Category' })
export class CategoryResponse {
  @ApiProperty({ type: 'integer' })
  id: number;
  @ApiProperty({ description: 'Display label in the language of the answer. Never a key.' })
  name: string;
  @ApiProperty({ description: 'Stable text id that does not change on rename' })
  slug: string;
}

@ApiSchema({ name: 'Relations' })
export class RelationsResponse {
  @ApiProperty()
  partner: PartnerDto;
  @ApiProperty({ type: [CategoryResponse], description: 'By id' })
  categories: CategoryResponse[];
  @ApiProperty()
  media: MediaResource;
  @ApiProperty({ type: [LocationResource], description: 'Where the perk is redeemable; empty: everywhere' })
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
    description: 'The Redeem link. Use it verbatim. Fresh on each fetch; earlier ones stay valid.',
  })
  click_url: string;
  @ApiProperty()
  offer_slug: string;
  @ApiProperty({ type: 'integer', description: 'Lower shows first' })
  rank: number;
  @ApiPropertyOptional({ description: 'Only on static-coupon perks: the shared code' })
  coupon?: string;
  @ApiPropertyOptional({ description: 'True on single-use-code perks, else absent' })
  is_coupon_perk?: boolean;
  @ApiProperty({ description: 'Keywords for on-page search, as free text' })
  metadata: string;
  @ApiProperty()
  relations: RelationsResponse;
}

@ApiSchema({ name: 'Group' })
export class GroupResponse {
  @ApiProperty({ format: 'uuid' })
  id: string;
  @ApiProperty({ description: 'In the language of the answer' })
  name: string;
  @ApiProperty({ type: 'integer' })
  rank: number;
  @ApiProperty({ type: [PerkResponse], description: 'By rank within the group' })
  perks: PerkResponse[];
}

@ApiSchema({ name: 'PerkCollection' })
export class PerkCollectionResponse {
  @ApiProperty()
  id: string;
  @ApiProperty({ description: 'The owning account' })
  owner: string;
  @ApiProperty({ type: [GroupResponse], description: 'By rank; a group stays even when a filter empties it' })
  groups: GroupResponse[];
  @ApiProperty({
    type: [PerkResponse],
    description: 'Every perk once, by rank: the lowest of its ranks in the groups',
  })
  perks: PerkResponse[];
}
