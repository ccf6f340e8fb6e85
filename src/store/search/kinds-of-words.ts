const listed = (words: string): ReadonlySet<string> => new Set(words.split(/\s+/u));

/** Names nothing that another sentence could be told from. */
export const FUNCTION_WORDS = listed(
  `the a an this that these those some any all both each every of for with and or but not no nor so than then to from in into on onto at by up down out off over under about as
  my our your his her their its mine i you he she it we they me him us them who which what there here also just still only very too more most much again already actually correction update ps fyi hey well
  der die das den dem des ein eine einen einem einer eines kein keine keinen mein meine meinen unser unsere unseren unserem sein seine ihr ihre ihren euer und oder aber nicht auch noch schon von vom zu zum zur im in ins am an auf aus bei beim mit nach fur um uber unter vor ich du er sie es wir man mir mich uns
  le la les un une des du de d l et ou mais ne pas plus en dans sur sous pour par avec au aux ce cet cette ces mon ma mes notre nos votre son sa ses leur leurs je j tu il elle on nous vous ils elles que qui qu c s n m t fait
  el los las lo una unos unas del al y o pero ya por para con sin su sus mi mis nuestro nuestra nuestros tu se que hemos he han realidad il gli uno della dello dei delle nel nella al alla e ed ma per con su sul mio mia nostro nostra abbiamo ho os as uma da dos das em no na nos nas com meu minha nosso nossa ao aos pelo pela foi
  please pls bitte svp favor favore por lass lasst graag alsjeblieft alstublieft prosze пожалуиста lutfen ok okay let lets
  het een en op naar met voor niet dat wij ik hij zij ze mijn onze ons ook nog te bij uit aan om
  i w we z ze na do od po przy dla nie to czy lub oraz moj moja moje nasz nasza nasze ja oni ono
  и в во на с со к ко у о об от до из за по для при не но а или что как это этот эта эти мои моя мое наш наша наше наши мне я мы ты вы он она они его ее их нас уже еще же бы
  bir bu su o ve ile icin da de ki biz siz benim bizim cok daha`,
);
/** Of one thing at different times, or in another state. */
const PASSING_WORDS = listed(
  'now nowadays currently by today yesterday tomorrow tonight since until till last next week weekly month monthly year yearly daily day days morning evening night new old current latest previous former max maximum min minimum total first second third longer anymore instead jetzt nun neu neue neuer neues neuen alte alter alten mehr inzwischen mittlerweile seit bis heute morgen gestern woche wochentliche nachste nachsten aktuelle maintenant desormais actuellement nouveau nouvelle nouvel ancien ancienne ahora actualmente nuevo nueva viejo anterior adesso ora nuovo nuova agora novo nova nu voortaan nieuw nieuwe gisteren teraz obecnie nowy nowa nowe сеичас теперь больше новыи новая новое artik simdi yeni eski',
);
export const TIME =
  /^(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|diens|donners|frei|sams|sonn)tags?|mittwochs?|january|february|march|april|may|june|july|august|september|october|november|december|januar|februar|marz|mai|juni|juli|oktober|dezember|(?:maan|dins|woens|donder|vrij|zater|zon)dag|(?:segunda|terca|quarta|quinta|sexta)(?:-feira)?|wtorek|srode|czwartek|piatek|sobote|понедельник|вторник|среду|четверг|пятницу|субботу|sali|carsamba|persembe|cuma|gunu|\d.*)$/u;

/** Has a verb that says hardly more than that something is so. */
const CERTAIN_VERBS = listed(
  `am is are was were be been being isn aren wasn weren has have had hasn haven hadn does do did doesn don didn will would can could shall should may might must won
  ist sind war waren bin hat haben hatte wird werden wurde wurden kann muss soll darf est sont etait etaient a ont avait sera va vont es esta estan son era eran tiene tienen ha habia fue sera sono era hanno aveva foi tem sao zijn heeft hebben worden werd werden jest byl byla bylo byly zostal zostala zostalo был была было были`,
);
const VERBS = listed(
  `get gets got go goes went come comes came run runs ran take takes took cost costs use uses lives live work works meet meets met start starts begin begins began stop stops end ends open opens close closes stand stands stood sit sits lie lies hang hangs hung keep keeps kept hold holds held need needs want wants like likes prefer prefers love loves own owns lead leads eat eats drink drinks play plays read reads write writes wrote speak speaks drive drives drove ride rides sleep sleeps study studies teach teaches taught pay pays paid sell sells sold buy buys bought make makes made say says said listen listens point points weigh weighs contain contains return returns fail fails pass passes expire expires leave leaves left arrive arrives stay stays belong belongs happen happens become becomes became grow grows grew send sends sent give gives gave show shows depart departs deploy deploys ship ships host hosts depend depends respond responds answer answers report reports serve serves handle handles cover covers last lasts set sets
  steht stehen liegt liegen hangt hangen wohnt wohnen kommt geht lauft laufen kostet kosten heisst beginnt beginnen findet trifft treffen nutzt nutzen verwendet arbeitet arbeiten fahrt fahren gehort dauert braucht lebt leben startet endet
  habite habitent travaille travaillent commence commencent coute finit dure utilise ferme ouvre se tourne vive viven trabaja trabajan cuesta empieza empiezan termina usa usan dura abre cierra corre esta vive abita lavora costa inizia finisce
  woont wonen woon werkt werken staat staan ligt liggen gaat gaan slaapt gebruikt gebruiken draait heet fica mora moro trabalha trabalho roda chama mieszka mieszkam pracuje kosztuje wynosi stoi живет живу работает работаю находится стоит спит`,
);
const PAST = /^\p{L}{2,}[^e]ed$/u;
/** A verb where an article or a preposition follows ("boards at"), else as well a plural. */
const PRESENT = /^\p{L}{2,}[^su]s$/u;
export const DETERMINERS = listed(
  'the a an my our his her their its this that of der die das den dem ein eine le la les un une el los las il lo',
);
/** Who speaks or was named before; the verb follows. */
export const SPEAKERS = listed(
  'i we he she it they you ich wir er sie es man je j nous on il elle ils hemos he han abbiamo ho hanno we ve',
);
/** What is told behind these, as the object of the verb, is to be so, or is used. */
export const HEAD_VERBS = listed(
  'use write put keep name call store cache deploy run reply respond log send save format move shift relocate migrate transfer push bring pull put delay defer postpone reschedule raise lower increase reduce decrease bump cut drop shorten extend double halve turn change update convert set rename replace swap switch go revert stop nimm nutze verschieb verschiebe verlege verleg erhohe erhoh senke senk setze andere stell stelle tausche wechsle wechsel wechsele benenne ersetze utilise deplace deplacez deplacons reporte reportez decale augmente baisse change changez changeons renomme renommez remplace passe passez passons usa mueve mueva cambia cambie sube suba aumenta aumente baja baje reduce reduzca renombra reemplaza sustituye sposta spostate spostiamo rinvia rimanda cambiamo rinomina sostituisci passiamo mova mude muda adie adia altere troque renomeie aumente baixe reduza substitua gebruik verplaats verzet verschuif verhoog verlaag wijzig verander hernoem vervang stap schakel uzyj uzywaj przenies przesun przeloz zwieksz zmniejsz podnies obniz zmien zastap przejdz przelacz используи перенеси перенесите увеличь уменьши подними снизь измени поменяи смени переименуи замени переиди',
);
export const BEFORE_HEAD_VERBS = listed(
  'please pls let lets s us ok okay now also just you we i should must will ll bitte por favor favore per svp il te vous plait graag alsjeblieft prosze пожалуиста даваи from on could can would thanks',
);
/** What stands behind is what is used, not what it is used for. */
export const USES = listed('use using nimm nutze utilise usa gebruik uzyj uzywaj используи');
/** Behind a verb that is not known: "format the dates". */
export const ARTICLES = listed('the my our your his her their');
/** Of a verb: "go back", "switch over". */
export const PARTICLES = listed('back over');
/** The other thing stands behind. */
export const REPLACEMENTS = listed('with durch par por con door por pelo pela za');
/** What something is for. */
export const PURPOSES = listed('for as fur als pour comme para como per come voor dla jako для как');
/** Between a word and what hangs on it. */
export const JOINS = listed('of for from von vom fur des de du d del della do da');
/** What somebody changes stands before this. */
export const DESTINATIONS = listed(
  'to from by until till into nach auf von zu zum zur in bis vers a au aux pour para al da per naar op tot na do na в на до к во pra em au',
);
/** One thing of something: what is called a limit may be called a size as well. */
export const MEASURES = listed(
  'limit size quota cap price cost costs fee rent budget salary amount number length duration time date deadline temperature speed rate level place location address port version',
);

/** The last of the first verbs in a row. */
export function verbAt(tokens: readonly string[]): number {
  for (const [at, token] of tokens.entries()) {
    if (at === 0 || DETERMINERS.has(tokens[at - 1] ?? '')) continue;
    if (CERTAIN_VERBS.has(token)) return at;
    const next = tokens[at + 1] ?? '';
    const mayBeVerb = PRESENT.test(token) && FUNCTION_WORDS.has(next) && !JOINS.has(next);
    if (!VERBS.has(token) && !PAST.test(token) && !mayBeVerb) continue;
    // "The test run takes …": the first of them is a noun.
    return isVerb(next) ? at + 1 : at;
  }
  return -1;
}

export function isVerb(token: string): boolean {
  return CERTAIN_VERBS.has(token) || VERBS.has(token) || PAST.test(token);
}

export function isTelling(token: string): boolean {
  return !FUNCTION_WORDS.has(token) && !PASSING_WORDS.has(token) && !TIME.test(token) && !CERTAIN_VERBS.has(token);
}

/** A number behind a noun counts it, as in "sprint 12"; another one is a time, or what is said of it. */
export function distinguishes(token: string, at: number, tokens: readonly string[]): boolean {
  const before = tokens[at - 1] ?? '';
  return isTelling(token) || (/^\d/u.test(token) && isTelling(before) && !isVerb(before));
}
