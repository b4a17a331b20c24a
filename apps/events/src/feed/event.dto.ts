import { ApiProperty } from '@nestjs/swagger';
import { FEED_EVENT_TYPES, type EventType, type FeedEvent } from '@perkway/domain';

const EXAMPLE_DATA = {
  campaign_id: 'autumn-thank-you',
  journey_id: 'j-4711',
  perk_id: 'quillon-third-night',
  channel: 'outreach',
  traffic_class: 'human',
  utm: { utm_source: 'newsletter' },
  cmeta: { plan: 'gold' },
};

/** Documents the feed's responses; the wire form itself is `FeedEvent`. */
export class Event implements FeedEvent {
  @ApiProperty({
    description: 'The id under which analytics stores the same interaction. It never changes',
    example: 'Zk3vR1tq8XwYb2nLp0sHdA',
  })
  id: string;

  @ApiProperty({ enum: FEED_EVENT_TYPES, example: 'incentive.clicked' })
  type: EventType;

  @ApiProperty({ format: 'date-time', example: '2026-10-01T08:15:30.120Z' })
  occurred_at: string;

  @ApiProperty({ description: '`<kind>/<id>` of what the event is about', example: 'journey/j-4711' })
  subject: string;

  @ApiProperty({
    description:
      'A tracked interaction has the member names of the analytics cubes, a reward link most members of RewardLink at that time',
    type: 'object',
    additionalProperties: true,
    example: EXAMPLE_DATA,
  })
  data: Record<string, unknown>;

  @ApiProperty({
    description:
      'Present once a person was erased from the event: `journey_id`, `external_id`, `reference`, `utm` and `cmeta` are gone',
    required: false,
    enum: [true],
    type: 'boolean',
  })
  erased?: true;
}

export class FeedPageDto {
  @ApiProperty({ type: [Event] })
  data: Event[];

  @ApiProperty({
    description: 'Always present: pass it as `cursor` to read on',
    example: 'pYqf0d1bQm3n8sX2aWzJ4FszXQ',
  })
  next_cursor: string;

  @ApiProperty({ description: 'Whether more events can be read now', example: false })
  has_more: boolean;
}
