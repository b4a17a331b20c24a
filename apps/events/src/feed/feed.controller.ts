import { Controller, Get, Header, Param, Query, Res } from '@nestjs/common';
import { ApiOperation, ApiQuery, ApiResponse, ApiTags } from '@nestjs/swagger';
import { CurrentCaller, RequiredScope } from '@perkway/auth';
import { EVENT_TYPES, type Caller, type FeedEvent } from '@perkway/domain';
import { ApiProblems, type ListQuery } from '@perkway/platform';
import type { FastifyReply } from 'fastify';
import { Event, FeedPageDto } from './event.dto.js';
import { FeedService, type FeedPage } from './feed.service.js';

@ApiTags('Events')
@RequiredScope('events:read')
@Controller('events')
export class FeedController {
  constructor(private readonly feed: FeedService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'List the events of the account, in stored order',
    description:
      'Following `next_cursor` never skips and never repeats an event. Store it and continue with it later. Without a cursor the list begins with the oldest event in the feed.',
  })
  @ApiQuery({
    name: 'cursor',
    required: false,
    schema: { type: 'string' },
    description: 'The `next_cursor` of an earlier response',
  })
  @ApiQuery({
    name: 'from',
    required: false,
    schema: { type: 'string', format: 'date-time' },
    description:
      'Only events stored at or after this time, which is in UTC without an offset. Not together with `cursor`',
  })
  @ApiQuery({
    name: 'types',
    required: false,
    schema: { type: 'string' },
    description: `Comma-separated: ${EVENT_TYPES.join(', ')}`,
    example: 'reward_link.revealed,conversion.recorded',
  })
  @ApiQuery({
    name: 'limit',
    required: false,
    schema: { type: 'integer', minimum: 1, maximum: 1000, default: 100 },
  })
  @ApiQuery({
    name: 'wait',
    required: false,
    schema: { type: 'integer', minimum: 0, maximum: 20, default: 0 },
    description: 'Seconds to wait for an event if there is none',
  })
  @ApiResponse({ status: 200, description: 'A page of events', type: FeedPageDto })
  @ApiProblems('VALIDATION_FAILED', 'CURSOR_EXPIRED')
  listEvents(
    @CurrentCaller() caller: Caller,
    @Query() query: ListQuery,
    @Res({ passthrough: true }) { raw }: FastifyReply,
  ): Promise<FeedPage> {
    const gone = new AbortController();
    raw.once('close', () => gone.abort());
    return this.feed.list(caller, query, gone.signal);
  }

  @Get(':eventId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Get one event of the account' })
  @ApiResponse({ status: 200, description: 'The event', type: Event })
  @ApiProblems('EVENT_NOT_FOUND')
  getEvent(@CurrentCaller() caller: Caller, @Param('eventId') eventId: string): Promise<FeedEvent> {
    return this.feed.get(caller, eventId);
  }
}
