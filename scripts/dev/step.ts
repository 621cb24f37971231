// Runs one step of the start of the development platform and reports the step's duration.

export type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>

/** A message to dev:up from the platform's parent process (keeper). */
export type Report =
  | { readonly kind: 'step'; readonly name: string; readonly seconds: number }
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly why: string }

export function createStep(send: (report: Report) => void): Step {
  return async (name, work) => {
    const startedAt = performance.now()
    try {
      const result = await work()
      send({ kind: 'step', name, seconds: (performance.now() - startedAt) / 1000 })
      return result
    } catch (error) {
      throw new Error(`${name}: ${error instanceof Error ? error.message : String(error)}`, { cause: error })
    }
  }
}

export function isReport(value: unknown): value is Report {
  return typeof value === 'object' && value !== null && 'kind' in value
}
