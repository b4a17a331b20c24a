import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { CardsModule } from '../cards/cards.module.js';
import { PoolEntity } from '../pools/pool.entity.js';
import { WithdrawalRunner } from './withdrawal-runner.js';
import { WithdrawalsController } from './withdrawals.controller.js';
import { WithdrawalsService } from './withdrawals.service.js';

@Module({
  imports: [CardsModule, TypeOrmModule.forFeature([PoolEntity])],
  controllers: [WithdrawalsController],
  providers: [WithdrawalRunner, WithdrawalsService],
})
export class WithdrawalsModule {}
