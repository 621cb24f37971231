// Finds the lines of a server's or agent's log that must not appear while two builds run side by side: records, messages
// and files that could not be read, errors, and text that is no log line, such as a stack trace.

const ERROR_LEVEL = 50
const UNREADABLE = /cannot be decoded|unreadable|unusable|invalid message|protocol_violation/i

export function findLogFaults(output: string): string[] {
  return output.split('\n').filter((line) => line.trim() !== '' && isFault(line))
}

function isFault(line: string): boolean {
  return UNREADABLE.test(line) || levelOf(line) >= ERROR_LEVEL
}

function levelOf(line: string): number {
  try {
    return Number(Object(JSON.parse(line)).level)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
