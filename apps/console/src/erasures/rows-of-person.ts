/**
 * Condition for the rows `r` of link jobs `j` that name a person: of account `$1`, with the id `$2` of kind `$3`. A
 * reference is the id of a customer, and in some jobs also of a journey.
 */
export const ROWS_OF_PERSON = `
  r.job_id = j.id and j.account_id = $1 and r.reference = $2
  and ($3 = 'customer_id' or (j.request->'references_are_journey_ids')::boolean)`;
