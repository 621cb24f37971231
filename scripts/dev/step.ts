// One step of the start: it is told when it is done, with its time.

export type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** From the keeper to dev:up, over the channel between them. */
export type Report =
  | { readonly kind: 'step'; readonly name: string; readonly seconds: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly why: string }

export function createStep(report: (told: Report) => void): Step {
  return async (name, work) => {
    const begun = performance.now()
    try {
      const result = await work()
      report({ kind: 'step', name, seconds: (performance.now() - begun) / 1000 })
      return result
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }
}

export function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null && 'kind' in value
}
