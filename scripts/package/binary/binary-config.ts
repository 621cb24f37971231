// How Node turns a bundle into a binary, so that two builds are the same bytes.

/**
 * V8 compares names by hashes of a random seed, and stores them with the compiled code. `--hash-seed` would fix them too, but a
 * binary rejects code that was compiled with it.
 */
export const NODE_WORDS: readonly string[] = ['--random-seed=1']

export interface BinaryConfig {
  /** JSON for `node --build-sea`. Its paths are relative, because the binary contains them. */
  readonly config: string
  readonly main: string
  readonly output: string
}

export function binaryConfig(command: string): BinaryConfig {
  const [main, output] = [`${command}.mjs`, command]
  const settings = {
    main,
    mainFormat: 'module',
    output,
    useCodeCache: true,
    disableExperimentalSEAWarning: true,
  }
  return { config: JSON.stringify(settings), main, output }
}
