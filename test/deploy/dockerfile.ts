export interface Instruction {
  readonly name: string;
  readonly text: string;
}

export interface Stage {
  readonly name: string;
  readonly from: string;
  readonly instructions: readonly Instruction[];
}

/** The stages of a Dockerfile; comments dropped, continued lines joined. */
export function stagesOf(dockerfile: string): Stage[] {
  const stages: { name: string; from: string; instructions: Instruction[] }[] = [];
  for (const { name, text } of instructionsOf(dockerfile)) {
    if (name === 'FROM') {
      const [from = '', , alias = ''] = text.split(/\s+/);
      stages.push({ name: alias, from, instructions: [] });
    } else stages.at(-1)?.instructions.push({ name, text });
  }
  return stages;
}

export function instructionsOf(dockerfile: string): Instruction[] {
  const lines = dockerfile.replaceAll(/^\s*#.*$/gm, '').replaceAll(/\\\n\s*/g, '');
  return [...lines.matchAll(/^([A-Z]+)\s+(.*)$/gm)].map(([, name = '', text = '']) => ({ name, text: text.trim() }));
}

/** What a stage copies out of the build context; with `from`, out of another stage. */
export function copiesOf(stage: Stage): { from: string | undefined; sources: string[] }[] {
  return stage.instructions
    .filter(({ name }) => name === 'COPY')
    .map(({ text }) => {
      const words = text.split(/\s+/);
      const flags = words.filter((word) => word.startsWith('--'));
      const paths = words.filter((word) => !word.startsWith('--'));
      return { from: flags.map((flag) => /^--from=(.*)$/.exec(flag)?.[1]).find(Boolean), sources: paths.slice(0, -1) };
    });
}
