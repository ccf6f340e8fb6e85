/**
 * Characters of traditional Chinese that neither simplified Chinese nor Japanese writes. Tokenizers learned few words of
 * them: a text takes 0.92 tokens a character in o200k where a simplified one takes 0.72, and these characters are how the
 * two can be told apart. The most frequent ones; each counts as two ideographs.
 */
const CHARACTERS =
  '這個們來說為會對過與還點從學國發關當經處實應聽讓將樣變單簽臺辦於麼沒裡嗎讀寫數據區號專圖體氣萬歲歷總樂價幾廣聲賣觀證' +
  '譯釋醫錢鐵顯屬續繼縣爭靜齊擔擇擴搖攝斷條檢權歐歡殘淺滿澤濟灣狀獨獻畫盡碼禮稱穩竊粹絕綠縱聯肅膽臟舊莊蟲裝覺覽觸譽豐賴' +
  '輕轉遲邊鄉鄰錄隨隱雙雜靈驗驛鬥黨齒龍龜壓圍團壞壯奧妳寶屆峽帶廳彈徑德恆惡惱慘戀戰戲兩並亂傳佔僅兒內剛勞勵參吳啟嚴強懷' +
  '戶拋敘晝曉榮橫歸汙淚淨溫潛濕燈燒獎瓊產瘋眾祕稅窮緣纖羣脫藝藥蘭虛讚賓邏郵銳鑰險雞髮鬆麥';

const FIRST = 0x4e00;
const LAST = 0x9fff;

const marks = new Uint8Array(LAST - FIRST + 1);
for (const character of CHARACTERS) marks[character.charCodeAt(0) - FIRST] = 1;

/** How many ideographs a UTF-16 code unit of their class counts as. */
export function ideographWeight(code: number): number {
  return code >= FIRST && code <= LAST && marks[code - FIRST] === 1 ? 2 : 1;
}
