// What was typed makes no sense: what came and what is accepted, in one sentence, before anything is done.

export class UsageFault extends Error {
  override readonly name = 'UsageFault'
}
