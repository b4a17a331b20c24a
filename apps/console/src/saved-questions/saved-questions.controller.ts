import { Body, Controller, Delete, Get, Header, HttpCode, Param, Post } from '@nestjs/common';
import { ApiOperation, ApiResponse, ApiTags } from '@nestjs/swagger';
import { ApiProblems } from '@perkway/platform';
import { CurrentSession, type Session } from '../sessions/session.js';
import { SavedQuestionDto, SaveQuestionDto } from './saved-question.dto.js';
import { SavedQuestionsService } from './saved-questions.service.js';

@ApiTags('Saved questions')
@Controller('api/saved-questions')
export class SavedQuestionsController {
  constructor(private readonly questions: SavedQuestionsService) {}

  @Get()
  @Header('cache-control', 'no-store')
  @ApiOperation({ summary: 'List the questions that people of the account saved in Explore' })
  @ApiResponse({ status: 200, description: 'By name, at most 100', type: [SavedQuestionDto] })
  listSavedQuestions(@CurrentSession() session: Session): Promise<SavedQuestionDto[]> {
    return this.questions.list(session);
  }

  @Post()
  @HttpCode(200)
  @Header('cache-control', 'no-store')
  @ApiOperation({
    summary: 'Save a question of Explore for everybody of the account',
    description: 'Replaces the question of the same name, so the call can be repeated.',
  })
  @ApiResponse({ status: 200, description: 'The saved question', type: SavedQuestionDto })
  @ApiProblems('VALIDATION_FAILED', 'TOO_MANY_QUESTIONS')
  saveQuestion(@CurrentSession() session: Session, @Body() body: SaveQuestionDto): Promise<SavedQuestionDto> {
    return this.questions.save(session, body);
  }

  @Delete(':questionId')
  @HttpCode(204)
  @ApiOperation({ summary: 'Delete a saved question' })
  @ApiResponse({ status: 204, description: 'The question is deleted' })
  @ApiProblems('QUESTION_NOT_FOUND')
  deleteSavedQuestion(
    @CurrentSession() session: Session,
    @Param('questionId') questionId: string,
  ): Promise<void> {
    return this.questions.delete(session, questionId);
  }
}
