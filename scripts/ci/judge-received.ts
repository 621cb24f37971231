// Which values of a vocabulary did the tests of a run receive over HTTP, where, and which are missing?

/** A value that no test receives over HTTP in every run, with the test that produces it below the API. */
export interface BelowHttp {
  readonly value: string
  readonly why: string
  readonly test: string
}

export interface VocabularyReport {
  readonly lines: readonly string[]
  /** Values that were neither received nor named as produced below the API. */
  readonly missing: readonly string[]
  /** Values that were received although they are named as produced only below the API. */
  readonly unexpected: readonly string[]
}

/** Parses the record of a run: for each vocabulary and value, the files whose tests received it. */
export function readRecord(text: string): Map<string, Set<string>> {
  const files = new Map<string, Set<string>>()
  for (const line of text.split('\n').filter((each) => each !== '')) {
    const [vocabulary = '', value = '', file = ''] = line.split('\t')
    const key = `${vocabulary} ${value}`
    files.set(key, (files.get(key) ?? new Set()).add(file))
  }
  return files
}

export function judgeVocabulary(
  name: string,
  values: readonly string[],
  record: ReadonlyMap<string, ReadonlySet<string>>,
  belowHttp: readonly BelowHttp[],
): VocabularyReport {
  const filesOf = (value: string): string[] => [...(record.get(`${name} ${value}`) ?? [])].sort()
  const received = values.filter((value) => filesOf(value).length > 0)
  const exempt = new Map(belowHttp.map((each) => [each.value, each]))
  const describe = (value: string): string => {
    const [first, ...others] = filesOf(value)
    if (first !== undefined) return others.length === 0 ? first : `${first} and ${others.length} more`
    const below = exempt.get(value)
    return below === undefined ? 'NEVER RECEIVED' : `not over HTTP: ${below.why}; ${below.test}`
  }
  return {
    lines: [
      `${name}: ${received.length} of ${values.length} received over HTTP`,
      ...values.map((value) => `  ${value.padEnd(32)} ${describe(value)}`),
    ],
    missing: values.filter((value) => !received.includes(value) && !exempt.has(value)),
    unexpected: received.filter((value) => exempt.has(value)),
  }
}
