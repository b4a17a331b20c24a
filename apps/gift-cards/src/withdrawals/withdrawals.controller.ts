import { Body, Controller, Get, Header, Headers, HttpCode, Param, Post } from '@nestjs/common';
import {
  ApiAcceptedResponse,
  ApiHeader,
  ApiOperation,
  ApiParam,
  ApiResponse,
  ApiTags,
} from '@nestjs/swagger';
import { ChangesNothing, CurrentCaller, Roles } from '@perkway/auth';
import type { Caller } from '@perkway/domain';
import { ApiProblems } from '@perkway/platform';
import { WithdrawCards, Withdrawal, WithdrawalCheck } from './withdrawal.dto.js';
import { WithdrawalsService } from './withdrawals.service.js';

@ApiTags('Management')
@ApiParam({ name: 'poolId', format: 'uuid' })
@Roles('ADMIN')
@Controller('admin/pools/:poolId/withdrawals')
export class WithdrawalsController {
  constructor(private readonly withdrawals: WithdrawalsService) {}

  @Post()
  @HttpCode(202)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Withdraw cards from a pool',
    description:
      'Withdrawn cards are never given out again, and their codes count as duplicates if they are loaded again. Runs in the background and survives restarts. Revealed cards are counted and listed, but not touched.',
  })
  @ApiHeader({
    name: 'Idempotency-Key',
    required: true,
    description: 'A new UUID; repeating the request with it returns the same withdrawal',
    schema: { type: 'string', format: 'uuid', example: '3f0d4c9e-8a11-4a57-b8c0-1f2e3d4c5b6a' },
  })
  @ApiAcceptedResponse({ description: 'The withdrawal', type: Withdrawal })
  @ApiProblems('POOL_NOT_FOUND', 'IDEMPOTENCY_KEY_CONFLICT')
  withdrawCards(
    @CurrentCaller() caller: Caller,
    @Param('poolId') poolId: string,
    @Headers('idempotency-key') idempotencyKey: unknown,
    @Body() body: WithdrawCards,
  ): Promise<Withdrawal> {
    return this.withdrawals.create(caller, poolId, idempotencyKey, body);
  }

  @Post('check')
  @HttpCode(200)
  @ChangesNothing()
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Check a withdrawal before starting it',
    description:
      'Counts the cards that a withdrawal with this body would find now. Stores nothing. 503 if counting among all cards takes too long; the withdrawal itself works in steps.',
  })
  @ApiResponse({ status: 200, description: 'What a withdrawal would find', type: WithdrawalCheck })
  @ApiProblems('POOL_NOT_FOUND')
  checkWithdrawal(@Param('poolId') poolId: string, @Body() body: WithdrawCards): Promise<WithdrawalCheck> {
    return this.withdrawals.check(poolId, body);
  }

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the last 50 withdrawals of a pool, newest first' })
  @ApiResponse({ status: 200, description: 'Newest first', type: [Withdrawal] })
  @ApiProblems('POOL_NOT_FOUND')
  listWithdrawals(@Param('poolId') poolId: string): Promise<Withdrawal[]> {
    return this.withdrawals.list(poolId);
  }

  @Get(':withdrawalId')
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'Get the progress of a withdrawal' })
  @ApiParam({ name: 'withdrawalId', format: 'uuid' })
  @ApiResponse({ status: 200, description: 'The withdrawal', type: Withdrawal })
  @ApiProblems('POOL_NOT_FOUND', 'WITHDRAWAL_NOT_FOUND')
  getWithdrawal(
    @Param('poolId') poolId: string,
    @Param('withdrawalId') withdrawalId: string,
  ): Promise<Withdrawal> {
    return this.withdrawals.get(poolId, withdrawalId);
  }
}
